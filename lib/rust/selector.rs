// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT

//! mio's selector on /dev/epoll where that can be opened, otherwise on epoll.
//! devepoll-cargo puts this file in the place of mio's selector/epoll.rs, which
//! becomes in_tree.rs.
//!
//! To add a file, or to change its events, takes a call at once: only the kernel
//! knows whether that fails.  To remove a file takes none, because most files are
//! closed next, and the set drops those.  If a file stays open, its next event is
//! not reported, and removes the file.

#[cfg(not(target_os = "linux"))]
compile_error!("devepoll cargo builds programs for Linux");

#[allow(unused_imports)] // before the edition of 2021
use std::convert::TryFrom;
use std::ffi::CStr;
use std::io;
use std::os::unix::io::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Once};
use std::time::{Duration, Instant};

use crate::{Interest, Token};

// Not all of epoll's selector is used here; the rest of mio uses its types.
#[allow(dead_code)]
#[path = "in_tree.rs"]
mod in_tree;
#[allow(unused_imports)]
pub(crate) use self::in_tree::*;

static NEXT_ID: AtomicUsize = AtomicUsize::new(1);

#[derive(Debug)]
pub struct Selector {
    // mio compares these if it is built with debug assertions.
    #[allow(dead_code)]
    id: usize,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Epoll(in_tree::Selector),
    Device(Arc<Device>),
}

#[allow(dead_code)]
impl Selector {
    pub fn new() -> io::Result<Selector> {
        let kind = match Device::open() {
            Some(device) => Kind::Device(Arc::new(device)),
            None => Kind::Epoll(in_tree::Selector::new()?),
        };
        Ok(Selector { id: NEXT_ID.fetch_add(1, Ordering::Relaxed), kind })
    }

    pub fn try_clone(&self) -> io::Result<Selector> {
        let kind = match &self.kind {
            Kind::Epoll(epoll) => Kind::Epoll(epoll.try_clone()?),
            Kind::Device(device) => Kind::Device(Arc::clone(device)),
        };
        Ok(Selector { id: self.id, kind })
    }

    /// Only one thread at a time: mio lends it to whoever has a `&mut Poll`.
    pub fn select(&self, events: &mut Events, timeout: Option<Duration>) -> io::Result<()> {
        match &self.kind {
            Kind::Epoll(epoll) => epoll.select(events, timeout),
            Kind::Device(device) => device.select(events, timeout),
        }
    }

    pub fn register(&self, fd: RawFd, token: Token, interests: Interest) -> io::Result<()> {
        match &self.kind {
            Kind::Epoll(epoll) => epoll.register(fd, token, interests),
            Kind::Device(device) => device.watch(ADD, fd, token, interests),
        }
    }

    pub fn reregister(&self, fd: RawFd, token: Token, interests: Interest) -> io::Result<()> {
        match &self.kind {
            Kind::Epoll(epoll) => epoll.reregister(fd, token, interests),
            Kind::Device(device) => device.watch(MOD, fd, token, interests),
        }
    }

    pub fn deregister(&self, fd: RawFd) -> io::Result<()> {
        match &self.kind {
            Kind::Epoll(epoll) => epoll.deregister(fd),
            Kind::Device(device) => device.forget(fd),
        }
    }

    pub fn id(&self) -> usize {
        self.id
    }
}

impl AsFd for Selector {
    fn as_fd(&self) -> BorrowedFd<'_> {
        // SAFETY: the descriptor is open as long as the selector lives.
        unsafe { BorrowedFd::borrow_raw(self.as_raw_fd()) }
    }
}

impl AsRawFd for Selector {
    fn as_raw_fd(&self) -> RawFd {
        match &self.kind {
            Kind::Epoll(epoll) => epoll.as_raw_fd(),
            Kind::Device(device) => device.set.as_raw_fd(),
        }
    }
}

// Constants and structs of uapi/linux/devepoll.h, and of Linux on x86-64.

const SYS_FADVISE64: libc::c_long = 221;

const ADD: u16 = 1;
const DEL: u16 = 2;
const MOD: u16 = 3;
const TRUST: u16 = 2;

const DEVEPOLL_CTL: u64 = 0xc018_5010;
const DEVEPOLL_WAIT: u64 = 0xc040_5011;
const DEVEPOLL_FEATURES: u64 = 0x8028_5014;
const DEVEPOLL_EPOLL_WAIT: u64 = 0x5020;
const DEVEPOLL_TAKE: u64 = 0x5024;
const DEVEPOLL_CHANGE: u64 = 0x5028;

const WAIT_EPOLL: u32 = 2;
const WAIT_MAPPED: u32 = 4;
const MAP_EVENTS: u64 = 0x1_0000_0000;

const FEATURE_TAKE: u64 = 0x80;
const FEATURE_CHANGE: u64 = 0x800;

#[repr(C)]
#[derive(Default)]
struct Change {
    op: u16,
    flags: u16,
    fd: i32,
    events: u32,
    result: i32,
    data: u64,
}

#[repr(C)]
struct CtlArgs {
    changes: u64,
    nr: u32,
    change_size: u32,
    flags: u32,
    nr_failed: u32,
}

#[repr(C)]
#[derive(Default)]
struct WaitArgs {
    events: u64,
    max_events: u32,
    min_events: u32,
    timeout: i64,
    sigmask: u64,
    sigsetsize: u32,
    flags: u32,
    changes: u64,
    nr_changes: u32,
    change_size: u32,
    nr_tried: u32,
    nr_failed: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct Taken {
    data: u64,
    events: u32,
    fd: i32,
}

/// How many events a wait returns at most: four pages of them.
const MAPPED: usize = 1024;
const MAPPED_SIZE: usize = MAPPED * std::mem::size_of::<Taken>();

/// The number of forks from the process that made the first set to this one.
static FORKS: AtomicUsize = AtomicUsize::new(0);

extern "C" fn count_fork() {
    FORKS.fetch_add(1, Ordering::Relaxed);
}

extern "C" {
    fn pthread_atfork(
        prepare: Option<extern "C" fn()>,
        parent: Option<extern "C" fn()>,
        child: Option<extern "C" fn()>,
    ) -> libc::c_int;
}

/// What the program wants of an fd.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Wanted {
    Nothing,
    /// The events with this token.
    Events(usize),
    /// No event, but the set may still have the fd.
    Removal,
}

#[derive(Debug, Default)]
struct Table {
    fds: Vec<Wanted>,
    /// Changes that are being made; events may already have their tokens.
    changing: Vec<(RawFd, usize)>,
}

impl Table {
    fn get(&self, fd: RawFd) -> Wanted {
        self.fds.get(fd as usize).copied().unwrap_or(Wanted::Nothing)
    }

    fn set(&mut self, fd: RawFd, wanted: Wanted) {
        // A negative number is not watched.
        let at = match usize::try_from(fd) {
            Ok(at) => at,
            Err(_) => return,
        };
        if at >= self.fds.len() {
            self.fds.resize(at + 1, Wanted::Nothing);
        }
        self.fds[at] = wanted;
    }

    fn is_changing(&self, fd: RawFd) -> bool {
        self.changing.iter().any(|change| change.0 == fd)
    }
}

#[derive(Debug)]
struct Device {
    set: OwnedFd,
    /// Where the kernel writes the events of a wait; null if it can't be mapped.
    mapped: *const Taken,
    /// Whether the kernel need not poll a file before it reports it.
    trusts: bool,
    forks: usize,
    table: Mutex<Table>,
}

// SAFETY: only select() reads what is mapped, in one thread at a time.
unsafe impl Send for Device {}
unsafe impl Sync for Device {}

impl Device {
    /// None if there is no device for this program.
    fn open() -> Option<Device> {
        static ONCE: Once = Once::new();

        if !cfg!(all(target_arch = "x86_64", target_pointer_width = "64")) {
            return None;
        }
        if std::env::var_os("DEVEPOLL_MIO").map_or(false, |value| value == "0") {
            return None;
        }
        let set = open_node(b"/dev/epoll\0").or_else(|error| match error.raw_os_error() {
            Some(libc::ENOENT) => open_node(b"/dev/misc/eventpoll\0"),
            _ => Err(error),
        });
        let set = set.ok()?;
        ONCE.call_once(|| {
            // SAFETY: the function may be called at any time.
            unsafe { pthread_atfork(None, None, Some(count_fork)) };
        });
        Some(Device {
            mapped: map_events(set.as_raw_fd()),
            trusts: std::env::var_os("DEVEPOLL_TRUST").map_or(false, |value| value == "1"),
            set,
            forks: FORKS.load(Ordering::Relaxed),
            table: Mutex::default(),
        })
    }

    /// A process that shares the set with its parent, or that has no memory for
    /// its events, uses it as it would use epoll.
    fn is_plain(&self) -> bool {
        self.mapped.is_null() || self.forks != FORKS.load(Ordering::Relaxed)
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(|error| error.into_inner())
    }

    fn select(&self, events: &mut Events, timeout: Option<Duration>) -> io::Result<()> {
        let limit = timeout.filter(|timeout| !timeout.is_zero());
        let end = limit.and_then(|limit| Instant::now().checked_add(limit));
        let mut ms = milliseconds(timeout);

        events.clear();
        if self.is_plain() {
            let array = events.as_mut_ptr() as u64;
            let max = events.capacity();
            let nr = self.wait(DEVEPOLL_EPOLL_WAIT, WAIT_EPOLL, array, max, ms)?;
            // SAFETY: the kernel has written so many.
            unsafe { events.set_len(nr) };
            return Ok(());
        }
        loop {
            let max = events.capacity().min(MAPPED);
            let nr = self.wait(DEVEPOLL_TAKE, WAIT_MAPPED, 0, max, ms)?;
            self.report(nr, events);
            if nr == 0 || !events.is_empty() || ms == 0 {
                return Ok(());
            }
            // All were of fds that are not wanted any more.
            if let Some(end) = end {
                ms = milliseconds(Some(end.saturating_duration_since(Instant::now())));
            }
        }
    }

    /// Gives the mapped events to the program, but for those that it does not
    /// want any more.  Tokio frees what a token points to.
    fn report(&self, nr: usize, events: &mut Events) {
        let mut table = self.table();

        for i in 0..nr {
            // SAFETY: the last wait has written so many.
            let taken = unsafe { self.mapped.add(i).read() };
            let token = taken.data as usize;
            let wanted = table.get(taken.fd);
            if wanted == Wanted::Events(token) || table.changing.contains(&(taken.fd, token)) {
                events.push(libc::epoll_event { events: taken.events, u64: taken.data });
            } else if wanted == Wanted::Removal && !table.is_changing(taken.fd) {
                // With the lock, lest this remove a file that is added now.
                let _ = self.change(DEL, taken.fd, 0, None);
                table.set(taken.fd, Wanted::Nothing);
            }
        }
    }

    /// Adds a file or changes its events.
    fn watch(&self, op: u16, fd: RawFd, token: Token, interests: Interest) -> io::Result<()> {
        let token = usize::from(token);
        let mut event = libc::epoll_event { events: events_of(interests), u64: token as u64 };
        // A program on mio has to try a read or a write anyway, so trusted edges
        // do no harm; but urgent data is rare, and programs do not try for it.
        let flags = if self.trusts && !interests.is_priority() { TRUST } else { 0 };

        // Without the lock: the kernel polls the file, which may take its time.
        let before = {
            let mut table = self.table();
            table.changing.push((fd, token));
            table.get(fd)
        };
        let mut done = match op {
            // The program has been told that the file is gone.
            MOD if before == Wanted::Removal => Err(io::Error::from_raw_os_error(libc::ENOENT)),
            _ => self.change(op, fd, flags, Some(&mut event)),
        };
        if before == Wanted::Removal && has_errno(&done, libc::EEXIST) {
            done = self.change(MOD, fd, flags, Some(&mut event));
        }
        let mut table = self.table();
        if let Some(at) = table.changing.iter().position(|change| *change == (fd, token)) {
            table.changing.swap_remove(at);
        }
        if done.is_ok() {
            table.set(fd, Wanted::Events(token));
        }
        done
    }

    /// Ends the reports of the file's events.
    fn forget(&self, fd: RawFd) -> io::Result<()> {
        let mut table = self.table();
        let before = table.get(fd);

        if !self.is_plain() && matches!(before, Wanted::Events(_)) {
            table.set(fd, Wanted::Removal);
            return Ok(());
        }
        let done = self.change(DEL, fd, 0, None);
        table.set(fd, Wanted::Nothing);
        if before == Wanted::Removal && done.is_ok() {
            return Err(io::Error::from_raw_os_error(libc::ENOENT));
        }
        done
    }

    fn change(
        &self,
        op: u16,
        fd: RawFd,
        flags: u16,
        event: Option<&mut libc::epoll_event>,
    ) -> io::Result<()> {
        let (events, data) = event.as_ref().map_or((0, 0), |event| (event.events, event.u64));
        let address = event.map_or(ptr::null_mut(), |event| event as *mut _);
        let len = u64::from(flags) << 32 | u64::from(fd as u32);
        let request = DEVEPOLL_CHANGE + u64::from(op);

        // SAFETY: the kernel reads the event, if there is one.
        let done = result(unsafe {
            libc::syscall(SYS_FADVISE64, self.set.as_raw_fd(), address, len, request)
        });
        if !is_shut(&done) {
            return done.map(drop);
        }
        let mut change = Change { op, flags, fd, events, data, result: 0 };
        let mut args = CtlArgs {
            changes: &mut change as *mut _ as u64,
            nr: 1,
            change_size: std::mem::size_of::<Change>() as u32,
            flags: 0,
            nr_failed: 0,
        };
        // SAFETY: the kernel writes results to args and change.
        result(unsafe {
            libc::syscall(libc::SYS_ioctl, self.set.as_raw_fd(), DEVEPOLL_CTL, &mut args)
        })?;
        match change.result {
            0 => Ok(()),
            error => Err(io::Error::from_raw_os_error(-error)),
        }
    }

    /// Waits by a call with its arguments in registers, or if that is forbidden,
    /// by one that takes flags.  Returns how many events are in the array.
    fn wait(
        &self,
        request: u64,
        flags: u32,
        array: u64,
        max: usize,
        ms: i32,
    ) -> io::Result<usize> {
        let max = max.min(i32::MAX as usize / std::mem::size_of::<Taken>()) as u32;
        let len = u64::from(max) << 32 | u64::from(ms as u32);

        // SAFETY: the kernel writes at most so many events to what is mapped, or
        // to the array of the caller.
        let done = result(unsafe {
            libc::syscall(SYS_FADVISE64, self.set.as_raw_fd(), array, len, request)
        });
        if !is_shut(&done) {
            return done;
        }
        let mut args = WaitArgs {
            events: array,
            max_events: max,
            timeout: i64::from(ms) * 1_000_000,
            flags,
            ..WaitArgs::default()
        };
        // SAFETY: likewise.
        result(unsafe {
            libc::syscall(libc::SYS_ioctl, self.set.as_raw_fd(), DEVEPOLL_WAIT, &mut args)
        })
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        if !self.mapped.is_null() {
            // SAFETY: nobody else has the address.
            unsafe { libc::munmap(self.mapped as *mut _, MAPPED_SIZE) };
        }
    }
}

fn result(ret: libc::c_long) -> io::Result<usize> {
    usize::try_from(ret).map_err(|_| io::Error::last_os_error())
}

fn has_errno<T>(done: &io::Result<T>, errno: i32) -> bool {
    matches!(done, Err(error) if error.raw_os_error() == Some(errno))
}

/// Whether the error may be that of a disabled entry: the module's parameter
/// fadvise gives EINVAL, a seccomp filter the others.
fn is_shut<T>(done: &io::Result<T>) -> bool {
    [libc::EINVAL, libc::EPERM, libc::EACCES, libc::ENOSYS]
        .iter()
        .any(|errno| has_errno(done, *errno))
}

/// The timeout of epoll_wait(2), rounded up: no wait is too short.
fn milliseconds(timeout: Option<Duration>) -> i32 {
    timeout.map_or(-1, |timeout| {
        let ns = timeout.as_nanos();
        let whole = ns / 1_000_000 + u128::from(ns % 1_000_000 != 0);
        i32::try_from(whole).unwrap_or(i32::MAX)
    })
}

fn events_of(interests: Interest) -> u32 {
    let bits = [
        (true, libc::EPOLLET),
        (interests.is_readable(), libc::EPOLLIN | libc::EPOLLRDHUP),
        (interests.is_writable(), libc::EPOLLOUT),
        (interests.is_priority(), libc::EPOLLPRI),
    ];
    bits.iter().filter(|bit| bit.0).fold(0, |all, bit| all | bit.1 as u32)
}

fn open_node(path: &[u8]) -> io::Result<OwnedFd> {
    let path = CStr::from_bytes_with_nul(path).expect("a path ends with 0");
    // The path may name any file.  With O_EXCL, a set answers calls as epoll does.
    let flags = libc::O_RDWR | libc::O_CLOEXEC | libc::O_EXCL | libc::O_NOCTTY | libc::O_NONBLOCK;
    let mut known = [0_u64; 5];
    let needed = FEATURE_TAKE | FEATURE_CHANGE;

    // SAFETY: the kernel reads the path and writes to known.
    unsafe {
        let fd = result(libc::open(path.as_ptr(), flags).into())? as RawFd;
        let set = OwnedFd::from_raw_fd(fd);
        result(libc::syscall(libc::SYS_ioctl, fd, DEVEPOLL_FEATURES, &mut known))?;
        // As an fd of epoll, which does not have O_NONBLOCK.
        result(libc::fcntl(fd, libc::F_SETFL, libc::O_RDWR).into())?;
        if known[1] & needed != needed {
            return Err(io::ErrorKind::Unsupported.into());
        }
        Ok(set)
    }
}

fn map_events(set: RawFd) -> *const Taken {
    // SAFETY: the kernel chooses the address.
    let mapped = unsafe {
        let place = MAP_EVENTS as libc::off_t;
        libc::mmap(ptr::null_mut(), MAPPED_SIZE, libc::PROT_READ, libc::MAP_SHARED, set, place)
    };
    if mapped == libc::MAP_FAILED {
        return ptr::null();
    }
    mapped as *const Taken
}
