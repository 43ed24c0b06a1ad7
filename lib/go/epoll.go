// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT

// The three calls of epoll that Go's runtime makes, on /dev/epoll where that can
// be opened.  devepoll-go adds this file to the package of the runtime that makes
// system calls, and renames what the package has under these names to
// epollCreate1, epollWait and epollCtl.
//
// All this runs within the scheduler: nothing here may allocate memory.

package PACKAGE

import "unsafe"

// Linux on amd64, and uapi/linux/devepoll.h.
const (
	devepollClose     = 3
	devepollIoctl     = 16
	devepollFcntl     = 72
	devepollFadvise64 = 221
	devepollOpenat    = 257

	devepollAtFdcwd = -100
	devepollFSetfl  = 4

	// O_RDWR, O_NOCTTY and O_NONBLOCK, as the node can be any file, and O_EXCL
	// for a set that answers other calls as epoll does.
	devepollFlags = 0x2 | 0x100 | 0x800 | 0x80

	devepollEperm  = 1
	devepollEnoent = 2
	devepollEacces = 13
	devepollEinval = 22
	devepollEnosys = 38

	devepollEpollWait = 0x5020
	devepollEpollCtl  = 0x5020
	devepollCtl       = 0xc0185010
	devepollWait      = 0xc0405011
	devepollFeatures  = 0x80285014

	devepollWaitEpoll = 2
)

// struct devepoll_change and struct devepoll_ctl
type devepollChangeArgs struct {
	op, flags uint16
	fd        int32
	events    uint32
	result    int32
	data      [8]byte
}

type devepollCtlArgs struct {
	changes               uintptr
	nr, size              uint32
	ctlFlags, ctlFailures uint32
}

// struct devepoll_wait_args
type devepollWaitArgs struct {
	events               uintptr
	maxEvents, minEvents uint32
	timeout              int64
	sigmask              uintptr
	sigsetsize, flags    uint32
	changes              uintptr
	nr, size             uint32
	tried, failed        uint32
}

// The set on the device; the runtime makes a single one.
var devepollSet int32 = -1

// devepollGetenv is in runtime.go, since the linker refuses runtime.gogetenv here.
func devepollGetenv(key string) string

// devepollOpen returns the set, or -1 if there is no device for this program, or
// if its fadvise entry is disabled.
func devepollOpen(flags int32) int32 {
	var known [5]uint64 // struct devepoll_features
	dirfd := devepollAtFdcwd
	node := "/dev/epoll\x00"

	fd, _, errno := Syscall6(devepollOpenat, uintptr(dirfd), uintptr(unsafe.Pointer(unsafe.StringData(node))), uintptr(flags|devepollFlags), 0, 0, 0)
	if errno == devepollEnoent {
		node = "/dev/misc/eventpoll\x00"
		fd, _, errno = Syscall6(devepollOpenat, uintptr(dirfd), uintptr(unsafe.Pointer(unsafe.StringData(node))), uintptr(flags|devepollFlags), 0, 0, 0)
	}
	if errno != 0 {
		return -1
	}
	_, _, errno = Syscall6(devepollFadvise64, fd, uintptr(unsafe.Pointer(&known)), 0, devepollFeatures, 0, 0)
	if errno != 0 {
		Syscall6(devepollClose, fd, 0, 0, 0, 0, 0)
		return -1
	}
	// A set of epoll does not have O_NONBLOCK.
	Syscall6(devepollFcntl, fd, devepollFSetfl, 0, 0, 0, 0)
	return int32(fd)
}

// devepollShut reports whether the error may be that of a disabled entry: the
// module's parameter fadvise gives EINVAL, a seccomp filter the others.
func devepollShut(errno uintptr) bool {
	return errno == devepollEinval || errno == devepollEperm ||
		errno == devepollEacces || errno == devepollEnosys
}

// EpollCreate1 makes a set on the device or, if there is none, on epoll.
func EpollCreate1(flags int32) (fd int32, errno uintptr) {
	if devepollGetenv("DEVEPOLL_GO") != "0" {
		devepollSet = devepollOpen(flags)
		if devepollSet >= 0 {
			return devepollSet, 0
		}
	}
	return epollCreate1(flags)
}

// EpollWait waits for events, at most waitms milliseconds unless negative.
func EpollWait(epfd int32, events []EpollEvent, maxev, waitms int32) (n int32, errno uintptr) {
	if epfd != devepollSet || len(events) == 0 {
		return epollWait(epfd, events, maxev, waitms)
	}
	array := unsafe.Pointer(&events[0])
	ret, _, errno := Syscall6(devepollFadvise64, uintptr(epfd), uintptr(array), uintptr(uint32(maxev))<<32|uintptr(uint32(waitms)), devepollEpollWait, 0, 0)
	if devepollShut(errno) {
		return devepollWaitByIoctl(epfd, array, maxev, waitms)
	}
	return int32(ret), errno
}

func devepollWaitByIoctl(epfd int32, events unsafe.Pointer, maxev, waitms int32) (n int32, errno uintptr) {
	wait := devepollWaitArgs{
		events:    uintptr(events),
		maxEvents: uint32(maxev),
		timeout:   int64(waitms) * 1000000,
		flags:     devepollWaitEpoll,
	}
	ret, _, errno := Syscall6(devepollIoctl, uintptr(epfd), devepollWait, uintptr(unsafe.Pointer(&wait)), 0, 0, 0)
	return int32(ret), errno
}

// EpollCtl changes what the set watches.
func EpollCtl(epfd, op, fd int32, event *EpollEvent) (errno uintptr) {
	if epfd != devepollSet {
		return epollCtl(epfd, op, fd, event)
	}
	_, _, errno = Syscall6(devepollFadvise64, uintptr(epfd), uintptr(unsafe.Pointer(event)), uintptr(fd), devepollEpollCtl+uintptr(op), 0, 0)
	if devepollShut(errno) {
		return devepollCtlByIoctl(epfd, op, fd, event)
	}
	return errno
}

func devepollCtlByIoctl(epfd, op, fd int32, event *EpollEvent) (errno uintptr) {
	change := devepollChangeArgs{op: uint16(op), fd: fd}
	if op != EPOLL_CTL_DEL {
		change.events = event.Events
		change.data = event.Data
	}
	ctl := devepollCtlArgs{
		changes: uintptr(unsafe.Pointer(&change)),
		nr:      1,
		size:    uint32(unsafe.Sizeof(change)),
	}
	_, _, errno = Syscall6(devepollIoctl, uintptr(epfd), devepollCtl, uintptr(unsafe.Pointer(&ctl)), 0, 0, 0)
	if errno != 0 {
		return errno
	}
	return uintptr(-change.result)
}
