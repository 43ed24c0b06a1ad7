// SPDX-License-Identifier: GPL-2.0
//! Tests what programs rely on in mio's poller: which errors come at once, which
//! events come, and which don't come any more.  Prints TAP.
//!
//! usage: polled LINK [PARAMETER]
//!
//! LINK is what /proc/self/fd is to say of the set: /dev/epoll, or
//! anon_inode:[eventpoll].  PARAMETER is the file of the module's parameter
//! fadvise; the tests run once more while it is off.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::net;
use std::os::fd::{AsRawFd, FromRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::process::exit;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use mio::unix::{pipe, SourceFd};
use mio::{Events, Interest, Poll, Registry, Token, Waker};

type Outcome = Result<(), Box<dyn std::error::Error>>;

const SHORT: Duration = Duration::from_millis(50);
// A guest on a busy machine is slow.
const LONG: Duration = Duration::from_secs(240);
const NOW: Duration = Duration::ZERO;

macro_rules! check {
    ($condition:expr, $($what:tt)+) => {
        if !$condition {
            return Err(format!($($what)+).into());
        }
    };
}

/// Fails unless a call gave this error.
fn refused(done: io::Result<()>, errno: i32) -> Outcome {
    let given = done.as_ref().err().and_then(io::Error::raw_os_error);
    check!(given == Some(errno), "{:?} instead of error {}", done, errno);
    Ok(())
}

fn add(registry: &Registry, fd: RawFd, token: usize) -> io::Result<()> {
    registry.register(&mut SourceFd(&fd), Token(token), Interest::READABLE)
}

fn modify(registry: &Registry, fd: RawFd, token: usize) -> io::Result<()> {
    registry.reregister(&mut SourceFd(&fd), Token(token), Interest::READABLE)
}

fn remove(registry: &Registry, fd: RawFd) -> io::Result<()> {
    registry.deregister(&mut SourceFd(&fd))
}

/// The tokens of one wait, in order.
fn tokens(poll: &mut Poll, timeout: Duration) -> io::Result<Vec<usize>> {
    let mut events = Events::with_capacity(1024);
    poll.poll(&mut events, Some(timeout))?;
    let mut found: Vec<usize> = events.iter().map(|event| event.token().0).collect();
    found.sort_unstable();
    Ok(found)
}

fn expect(poll: &mut Poll, timeout: Duration, wanted: &[usize]) -> Outcome {
    let found = tokens(poll, timeout)?;
    check!(found == wanted, "tokens {:?} instead of {:?}", found, wanted);
    Ok(())
}

fn eventfd() -> io::Result<File> {
    // SAFETY: the call makes a descriptor, which nobody else has.
    unsafe {
        match libc::eventfd(0, libc::EFD_NONBLOCK | libc::EFD_CLOEXEC) {
            -1 => Err(io::Error::last_os_error()),
            fd => Ok(File::from_raw_fd(fd)),
        }
    }
}

fn ring(mut file: &File) -> io::Result<()> {
    file.write_all(&1_u64.to_ne_bytes())
}

fn pair() -> io::Result<(net::TcpStream, net::TcpStream)> {
    let listener = net::TcpListener::bind("127.0.0.1:0")?;
    let near = net::TcpStream::connect(listener.local_addr()?)?;
    let far = listener.accept()?.0;
    near.set_nonblocking(true)?;
    Ok((near, far))
}

fn errors_come_at_once() -> Outcome {
    let poll = Poll::new()?;
    let registry = poll.registry();
    let file = eventfd()?;
    let fd = file.as_raw_fd();
    refused(modify(registry, fd, 1), libc::ENOENT)?;
    refused(remove(registry, fd), libc::ENOENT)?;
    add(registry, fd, 1)?;
    refused(add(registry, fd, 2), libc::EEXIST)?;
    remove(registry, fd)?;
    refused(remove(registry, fd), libc::ENOENT)?;
    refused(modify(registry, fd, 1), libc::ENOENT)?;
    let regular = File::open("/proc/self/exe")?;
    refused(add(registry, regular.as_raw_fd(), 1), libc::EPERM)?;
    refused(add(registry, 9999, 1), libc::EBADF)?;
    refused(add(registry, -1, 1), libc::EBADF)?;
    refused(modify(registry, 9999, 1), libc::EBADF)?;
    refused(remove(registry, 9999), libc::EBADF)
}

fn no_room_for_events_is_an_error() -> Outcome {
    let mut poll = Poll::new()?;
    refused(poll.poll(&mut Events::with_capacity(0), Some(NOW)), libc::EINVAL)
}

fn each_arrival_is_an_event() -> Outcome {
    let mut poll = Poll::new()?;
    let file = eventfd()?;
    add(poll.registry(), file.as_raw_fd(), 1)?;
    expect(&mut poll, NOW, &[])?;
    for _ in 0..3 {
        ring(&file)?;
        expect(&mut poll, LONG, &[1])?;
        expect(&mut poll, NOW, &[])?;
    }
    Ok(())
}

fn what_is_ready_is_told_at_first() -> Outcome {
    let mut poll = Poll::new()?;
    let file = eventfd()?;
    ring(&file)?;
    add(poll.registry(), file.as_raw_fd(), 1)?;
    expect(&mut poll, LONG, &[1])?;
    modify(poll.registry(), file.as_raw_fd(), 2)?;
    expect(&mut poll, LONG, &[2])?;
    expect(&mut poll, NOW, &[])
}

fn a_removed_file_is_silent() -> Outcome {
    let mut poll = Poll::new()?;
    let (file, other) = (eventfd()?, eventfd()?);
    add(poll.registry(), file.as_raw_fd(), 1)?;
    add(poll.registry(), other.as_raw_fd(), 2)?;
    remove(poll.registry(), file.as_raw_fd())?;
    for _ in 0..2 {
        ring(&file)?;
        let begin = Instant::now();
        expect(&mut poll, SHORT, &[])?;
        check!(begin.elapsed() >= SHORT, "after {:?}", begin.elapsed());
    }
    ring(&file)?;
    ring(&other)?;
    expect(&mut poll, LONG, &[2])?;
    // An event that is pending goes, too.
    ring(&other)?;
    remove(poll.registry(), other.as_raw_fd())?;
    expect(&mut poll, NOW, &[])
}

fn a_removed_file_can_be_added_again() -> Outcome {
    let mut poll = Poll::new()?;
    let file = eventfd()?;
    let fd = file.as_raw_fd();
    add(poll.registry(), fd, 1)?;
    ring(&file)?;
    for token in 2..5 {
        remove(poll.registry(), fd)?;
        add(poll.registry(), fd, token)?;
        refused(add(poll.registry(), fd, 9), libc::EEXIST)?;
        expect(&mut poll, LONG, &[token])?;
        expect(&mut poll, NOW, &[])?;
    }
    Ok(())
}

/// A number of a closed file belongs to the next file that is opened.
fn reused(poll: &mut Poll, removes: bool) -> Outcome {
    for token in 0..100 {
        let file = eventfd()?;
        let fd = file.as_raw_fd();
        add(poll.registry(), fd, token)?;
        ring(&file)?;
        if removes {
            remove(poll.registry(), fd)?;
        }
        drop(file);
        let file = eventfd()?;
        check!(file.as_raw_fd() == fd, "{} instead of {}", file.as_raw_fd(), fd);
        expect(poll, NOW, &[])?;
        add(poll.registry(), fd, 1000 + token)?;
        expect(poll, NOW, &[])?;
        ring(&file)?;
        expect(poll, LONG, &[1000 + token])?;
    }
    Ok(())
}

fn a_number_is_used_again() -> Outcome {
    let mut poll = Poll::new()?;
    reused(&mut poll, true)?;
    reused(&mut poll, false)
}

/// The set may go on to have a file that was removed, under a number that another
/// file has by now.
fn a_duplicate_outlives_a_number() -> Outcome {
    let mut poll = Poll::new()?;
    let file = eventfd()?;
    let fd = file.as_raw_fd();
    let duplicate = file.try_clone()?;
    add(poll.registry(), fd, 1)?;
    remove(poll.registry(), fd)?;
    drop(file);
    ring(&duplicate)?;
    expect(&mut poll, NOW, &[])?;
    let file = eventfd()?;
    check!(file.as_raw_fd() == fd, "{} instead of {}", file.as_raw_fd(), fd);
    refused(remove(poll.registry(), fd), libc::ENOENT)?;
    add(poll.registry(), fd, 2)?;
    ring(&duplicate)?;
    expect(&mut poll, NOW, &[])?;
    ring(&file)?;
    expect(&mut poll, LONG, &[2])
}

fn timeouts_are_kept() -> Outcome {
    let mut poll = Poll::new()?;
    for timeout in [Duration::from_micros(300), SHORT] {
        let begin = Instant::now();
        expect(&mut poll, timeout, &[])?;
        check!(begin.elapsed() >= timeout, "{:?}: {:?}", timeout, begin.elapsed());
    }
    Ok(())
}

/// More than a wait can return, and in portions.
fn all_of_many_are_reported() -> Outcome {
    const MANY: usize = 3000;
    let mut poll = Poll::new()?;
    let files = (0..MANY).map(|_| eventfd()).collect::<io::Result<Vec<File>>>()?;
    for (token, file) in files.iter().enumerate() {
        add(poll.registry(), file.as_raw_fd(), token)?;
    }
    for capacity in [1, 100, 5000] {
        let mut events = Events::with_capacity(capacity);
        let mut seen = vec![0; MANY];
        for file in &files {
            ring(file)?;
        }
        while seen.iter().sum::<usize>() < MANY {
            poll.poll(&mut events, Some(LONG))?;
            check!(!events.is_empty(), "only {:?} with {}", seen.iter().sum::<usize>(), capacity);
            events.iter().for_each(|event| seen[event.token().0] += 1);
        }
        check!(seen.iter().all(|count| *count == 1), "some twice with {}", capacity);
        expect(&mut poll, NOW, &[])?;
    }
    Ok(())
}

fn an_end_is_told() -> Outcome {
    let mut poll = Poll::new()?;
    let mut events = Events::with_capacity(8);
    let (near, far) = pair()?;
    let both = Interest::READABLE | Interest::WRITABLE;
    let fd = near.as_raw_fd();
    poll.registry().register(&mut SourceFd(&fd), Token(1), both)?;
    poll.poll(&mut events, Some(LONG))?;
    let event = events.iter().next().ok_or("no event")?;
    check!(event.is_writable() && !event.is_readable(), "at first: {:?}", event);
    far.shutdown(net::Shutdown::Write)?;
    poll.poll(&mut events, Some(LONG))?;
    let event = events.iter().next().ok_or("no event of the end")?;
    check!(event.is_read_closed() && !event.is_write_closed(), "half an end: {:?}", event);
    near.shutdown(net::Shutdown::Write)?;
    poll.poll(&mut events, Some(LONG))?;
    let event = events.iter().next().ok_or("no event of both ends")?;
    check!(event.is_read_closed() && event.is_write_closed(), "both ends: {:?}", event);

    let (mut sender, receiver) = pipe::new()?;
    poll.registry().register(&mut sender, Token(2), Interest::WRITABLE)?;
    poll.poll(&mut events, Some(LONG))?;
    drop(receiver);
    poll.poll(&mut events, Some(LONG))?;
    let event = events.iter().next().ok_or("no event of a pipe")?;
    check!(event.token() == Token(2) && event.is_write_closed(), "a pipe: {:?}", event);
    Ok(())
}

fn a_writer_waits_for_space() -> Outcome {
    const SIZE: usize = 4 << 20;
    let mut poll = Poll::new()?;
    let (mut near, mut far) = pair()?;
    let fd = near.as_raw_fd();
    poll.registry().register(&mut SourceFd(&fd), Token(1), Interest::WRITABLE)?;
    let reader = thread::spawn(move || io::copy(&mut far, &mut io::sink()));
    let mut left = SIZE;
    while left > 0 {
        match near.write(&vec![1; left.min(1 << 16)]) {
            Ok(n) => left -= n,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                expect(&mut poll, LONG, &[1])?
            }
            Err(error) => return Err(error.into()),
        }
    }
    drop(near);
    let got = reader.join().expect("the reader ends")?;
    check!(got == SIZE as u64, "{} bytes", got);
    Ok(())
}

fn a_file_that_was_filled_is_not_reported() -> Outcome {
    let mut poll = Poll::new()?;
    let (mut near, mut far) = UnixStream::pair()?;
    let mut size = 0;
    near.set_nonblocking(true)?;
    // It is ready when it is added, and not any more when this waits.
    let fd = near.as_raw_fd();
    poll.registry().register(&mut SourceFd(&fd), Token(1), Interest::WRITABLE)?;
    loop {
        match near.write(&[1; 4096]) {
            Ok(n) => size += n,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
            Err(error) => return Err(error.into()),
        }
    }
    expect(&mut poll, SHORT, &[])?;
    far.read_exact(&mut vec![0; size])?;
    expect(&mut poll, LONG, &[1])
}

fn urgent_data_is_told() -> Outcome {
    let mut poll = Poll::new()?;
    let mut events = Events::with_capacity(8);
    let (near, far) = pair()?;
    let fd = near.as_raw_fd();
    let interests = Interest::READABLE | Interest::PRIORITY;
    poll.registry().register(&mut SourceFd(&fd), Token(1), interests)?;
    (&far).write_all(b"a")?;
    poll.poll(&mut events, Some(LONG))?;
    let event = events.iter().next().ok_or("no event of data")?;
    check!(event.is_readable() && !event.is_priority(), "data: {:?}", event);
    // SAFETY: the byte is there.
    unsafe { libc::send(far.as_raw_fd(), b"b".as_ptr().cast(), 1, libc::MSG_OOB) };
    poll.poll(&mut events, Some(LONG))?;
    let event = events.iter().next().ok_or("no event of urgent data")?;
    check!(event.is_priority(), "urgent data: {:?}", event);
    Ok(())
}

fn a_waker_wakes() -> Outcome {
    let mut poll = Poll::new()?;
    let waker = Arc::new(Waker::new(poll.registry(), Token(7))?);
    let woken = Arc::new(AtomicUsize::new(0));
    waker.wake()?;
    expect(&mut poll, LONG, &[7])?;
    let thread = {
        let (waker, woken) = (Arc::clone(&waker), Arc::clone(&woken));
        thread::spawn(move || {
            for turn in 0..200 {
                waker.wake().expect("the waker works");
                while woken.load(Ordering::Acquire) == turn {
                    thread::yield_now();
                }
            }
        })
    };
    for _ in 0..200 {
        expect(&mut poll, LONG, &[7])?;
        woken.fetch_add(1, Ordering::Release);
    }
    thread.join().expect("the thread ends");
    Ok(())
}

/// Runs while another thread is about to sleep in a wait, or sleeps.
fn meanwhile(poll: &mut Poll, timeout: Duration, wanted: &[usize],
             run: impl FnOnce(Registry) -> io::Result<()> + Send) -> Outcome {
    let registry = poll.registry().try_clone()?;
    thread::scope(|scope| {
        let thread = scope.spawn(move || {
            thread::sleep(SHORT);
            run(registry)
        });
        let found = expect(poll, timeout, wanted);
        thread.join().expect("the thread ends")?;
        found
    })
}

fn changes_reach_a_wait() -> Outcome {
    let mut poll = Poll::new()?;
    let (ready, file) = (eventfd()?, eventfd()?);
    ring(&ready)?;
    meanwhile(&mut poll, LONG, &[1], |registry| add(&registry, ready.as_raw_fd(), 1))?;
    meanwhile(&mut poll, LONG, &[2], |registry| modify(&registry, ready.as_raw_fd(), 2))?;
    add(poll.registry(), file.as_raw_fd(), 3)?;
    let begin = Instant::now();
    meanwhile(&mut poll, 4 * SHORT, &[], |registry| {
        remove(&registry, file.as_raw_fd())?;
        ring(&file)
    })?;
    check!(begin.elapsed() >= 4 * SHORT, "after {:?}", begin.elapsed());
    meanwhile(&mut poll, LONG, &[4], |registry| {
        add(&registry, file.as_raw_fd(), 4)?;
        ring(&file)
    })
}

/// Threads add and remove files, and close some of them, while others ring.  A
/// token that was removed before a wait began must not come from it: tokio frees
/// what it points to.
fn no_token_comes_after_its_removal() -> Outcome {
    const THREADS: usize = 3;
    const ROUNDS: usize = 300;
    const TOKENS: usize = THREADS * ROUNDS * 2;
    let mut poll = Poll::new()?;
    let removed: Arc<Vec<AtomicBool>> =
        Arc::new((0..TOKENS).map(|_| AtomicBool::new(false)).collect());
    let ended = Arc::new(AtomicUsize::new(0));
    let threads: Vec<_> = (0..THREADS)
        .map(|thread| {
            let registry = poll.registry().try_clone().expect("a registry can be cloned");
            let (removed, ended) = (Arc::clone(&removed), Arc::clone(&ended));
            thread::spawn(move || -> io::Result<()> {
                let mut file = eventfd()?;
                for round in 0..ROUNDS {
                    for half in 0..2 {
                        let token = (thread * ROUNDS + round) * 2 + half;
                        add(&registry, file.as_raw_fd(), token)?;
                        ring(&file)?;
                        remove(&registry, file.as_raw_fd())?;
                        removed[token].store(true, Ordering::SeqCst);
                        ring(&file)?;
                    }
                    if round % 3 == 0 {
                        file = eventfd()?;
                    }
                }
                ended.fetch_add(1, Ordering::SeqCst);
                Ok(())
            })
        })
        .collect();
    let mut stale = Vec::new();
    while ended.load(Ordering::SeqCst) < THREADS && threads.iter().any(|t| !t.is_finished()) {
        let before: Vec<bool> = removed.iter().map(|gone| gone.load(Ordering::SeqCst)).collect();
        let found = tokens(&mut poll, Duration::from_millis(1))?;
        stale.extend(found.into_iter().filter(|token| before[*token]));
    }
    for thread in threads {
        thread.join().expect("the thread ends")?;
    }
    check!(stale.is_empty(), "{:?}", stale);
    Ok(())
}

/// A file that one thread adds again and again has each of its events told.
fn a_file_that_is_added_again_is_told_of() -> Outcome {
    let mut poll = Poll::new()?;
    let registry = poll.registry().try_clone()?;
    let seen = Arc::new(AtomicUsize::new(0));
    let thread = {
        let seen = Arc::clone(&seen);
        thread::spawn(move || -> io::Result<()> {
            let file = eventfd()?;
            ring(&file)?;
            for token in 1..=300 {
                add(&registry, file.as_raw_fd(), token)?;
                while seen.load(Ordering::Acquire) < token {
                    thread::yield_now();
                }
                remove(&registry, file.as_raw_fd())?;
            }
            Ok(())
        })
    };
    for token in 1..=300 {
        expect(&mut poll, LONG, &[token])?;
        seen.store(token, Ordering::Release);
    }
    thread.join().expect("the thread ends")?;
    Ok(())
}

fn a_set_is_a_file_of_another_one() -> Outcome {
    let mut inner = Poll::new()?;
    let mut outer = Poll::new()?;
    let file = eventfd()?;
    add(inner.registry(), file.as_raw_fd(), 1)?;
    add(outer.registry(), inner.as_raw_fd(), 2)?;
    ring(&file)?;
    expect(&mut outer, LONG, &[2])?;
    expect(&mut inner, NOW, &[1])?;
    expect(&mut outer, NOW, &[])
}

/// A child has the set of its parent, too.
fn a_child_can_wait() -> Outcome {
    let mut poll = Poll::new()?;
    let (file, mine) = (eventfd()?, eventfd()?);
    add(poll.registry(), file.as_raw_fd(), 1)?;
    // SAFETY: no other thread has anything that the child needs.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let done = (|| -> Outcome {
            ring(&file)?;
            expect(&mut poll, LONG, &[1])?;
            add(poll.registry(), mine.as_raw_fd(), 2)?;
            ring(&mine)?;
            expect(&mut poll, LONG, &[2])?;
            remove(poll.registry(), mine.as_raw_fd())?;
            ring(&mine)?;
            expect(&mut poll, NOW, &[])
        })();
        exit(done.is_err().into());
    }
    let mut status = 0;
    // SAFETY: the kernel writes to the status.
    unsafe { libc::waitpid(child, &mut status, 0) };
    check!(status == 0, "the child: {:#x}", status);
    ring(&file)?;
    expect(&mut poll, LONG, &[1])
}

fn a_registry_outlives_its_poll() -> Outcome {
    let (mut sender, mut receiver) = pipe::new()?;
    let registry = {
        let mut poll = Poll::new()?;
        poll.registry().register(&mut receiver, Token(1), Interest::READABLE)?;
        sender.write_all(b"x")?;
        expect(&mut poll, LONG, &[1])?;
        poll.registry().try_clone()?
    };
    registry.deregister(&mut receiver)?;
    registry.register(&mut receiver, Token(2), Interest::READABLE)?;
    receiver.read_exact(&mut [0])?;
    Ok(())
}

fn is_set_of(link: &str) -> Outcome {
    let poll = Poll::new()?;
    let found = fs::read_link(format!("/proc/self/fd/{}", poll.as_raw_fd()))?;
    check!(found.to_str() == Some(link), "{:?}", found);
    Ok(())
}

const TESTS: [(&str, fn() -> Outcome); 21] = [
    ("errors_come_at_once", errors_come_at_once),
    ("no_room_for_events_is_an_error", no_room_for_events_is_an_error),
    ("each_arrival_is_an_event", each_arrival_is_an_event),
    ("what_is_ready_is_told_at_first", what_is_ready_is_told_at_first),
    ("a_removed_file_is_silent", a_removed_file_is_silent),
    ("a_removed_file_can_be_added_again", a_removed_file_can_be_added_again),
    ("a_number_is_used_again", a_number_is_used_again),
    ("a_duplicate_outlives_a_number", a_duplicate_outlives_a_number),
    ("timeouts_are_kept", timeouts_are_kept),
    ("all_of_many_are_reported", all_of_many_are_reported),
    ("an_end_is_told", an_end_is_told),
    ("a_writer_waits_for_space", a_writer_waits_for_space),
    ("a_file_that_was_filled_is_not_reported", a_file_that_was_filled_is_not_reported),
    ("urgent_data_is_told", urgent_data_is_told),
    ("a_waker_wakes", a_waker_wakes),
    ("changes_reach_a_wait", changes_reach_a_wait),
    ("no_token_comes_after_its_removal", no_token_comes_after_its_removal),
    ("a_file_that_is_added_again_is_told_of", a_file_that_is_added_again_is_told_of),
    ("a_set_is_a_file_of_another_one", a_set_is_a_file_of_another_one),
    ("a_child_can_wait", a_child_can_wait),
    ("a_registry_outlives_its_poll", a_registry_outlives_its_poll),
];

#[derive(Default)]
struct Results {
    count: usize,
    failed: bool,
}

impl Results {
    fn add(&mut self, name: &str, outcome: Outcome) {
        self.count += 1;
        match outcome {
            Ok(()) => println!("ok {} {}", self.count, name),
            Err(error) => {
                self.failed = true;
                println!("not ok {} {}\n# {}", self.count, name, error);
            }
        }
    }

    fn run(&mut self, suffix: &str) {
        for (name, test) in TESTS {
            self.add(&format!("{}{}", name, suffix), test());
        }
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let mut results = Results::default();
    if arguments.len() < 2 || arguments.len() > 3 {
        eprintln!("usage: polled LINK [PARAMETER]");
        exit(2);
    }
    results.add(&format!("the_set_is_{}", arguments[1]), is_set_of(&arguments[1]));
    results.run("");
    if let Some(parameter) = arguments.get(2) {
        results.add("the_entry_is_shut", fs::write(parameter, "N").map_err(Into::into));
        results.run("_by_ioctl");
        results.add("the_entry_is_open", fs::write(parameter, "Y").map_err(Into::into));
    }
    println!("1..{}", results.count);
    exit(results.failed.into());
}
