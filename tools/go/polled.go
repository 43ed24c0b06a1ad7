// SPDX-License-Identifier: GPL-2.0

// Tests Go's network poller: connections, deadlines, and files that are closed
// while goroutines wait for them.  Prints TAP.
//
// usage: polled LINK [PARAMETER]
//
// LINK is what /proc/self/fd is to say of the set: /dev/epoll, or
// anon_inode:[eventpoll].  PARAMETER is the file of the module's parameter fadvise;
// the tests run once more while it is off.
package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"sync"
	"time"
)

const (
	crowd  = 100
	rounds = 10
	// A guest on a busy machine is slow.
	patience = 4 * time.Minute
)

var count, failed int

func result(name string, err error) {
	count++
	if err == nil {
		fmt.Printf("ok %d %s\n", count, name)
		return
	}
	failed++
	fmt.Printf("not ok %d %s\n# %v\n", count, name, err)
}

// within fails an operation that hangs, as one does whose event is lost.
func within(run func() error) error {
	done := make(chan error, 1)
	go func() { done <- run() }()
	select {
	case err := <-done:
		return err
	case <-time.After(patience):
		return errors.New("it hangs")
	}
}

func want(err, wanted error) error {
	if errors.Is(err, wanted) {
		return nil
	}
	return fmt.Errorf("%v instead of: %v", err, wanted)
}

func echo(listener net.Listener) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		go func() {
			io.Copy(conn, conn)
			conn.Close()
		}()
	}
}

func talk(addr string) error {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return err
	}
	defer conn.Close()
	buf := make([]byte, 5)
	for i := 0; i < rounds; i++ {
		text := fmt.Sprintf("%05d", i)
		if _, err = conn.Write([]byte(text)); err != nil {
			return err
		}
		if _, err = io.ReadFull(conn, buf); err != nil {
			return err
		}
		if string(buf) != text {
			return fmt.Errorf("%q instead of %q", buf, text)
		}
	}
	return nil
}

func manyConnections() error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer listener.Close()
	go echo(listener)
	errs := make(chan error, crowd)
	for i := 0; i < crowd; i++ {
		go func() { errs <- talk(listener.Addr().String()) }()
	}
	for i := 0; i < crowd; i++ {
		if err := <-errs; err != nil {
			return err
		}
	}
	return nil
}

// pair returns both ends of a connection.
func pair() (net.Conn, net.Conn, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, err
	}
	defer listener.Close()
	near, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		return nil, nil, err
	}
	far, err := listener.Accept()
	return near, far, err
}

func deadline() error {
	near, far, err := pair()
	if err != nil {
		return err
	}
	defer near.Close()
	defer far.Close()
	begin := time.Now()
	near.SetReadDeadline(begin.Add(50 * time.Millisecond))
	_, err = near.Read(make([]byte, 1))
	if err = want(err, os.ErrDeadlineExceeded); err != nil {
		return err
	}
	if took := time.Since(begin); took < 50*time.Millisecond {
		return fmt.Errorf("after %v already", took)
	}
	near.SetReadDeadline(time.Time{})
	far.Write([]byte{1})
	_, err = near.Read(make([]byte, 1))
	return err
}

func writerWaitsForSpace() error {
	near, far, err := pair()
	if err != nil {
		return err
	}
	defer far.Close()
	const size = 8 << 20
	go func() {
		near.Write(make([]byte, size))
		near.Close()
	}()
	got, err := io.Copy(io.Discard, far)
	if err == nil && got != size {
		err = fmt.Errorf("%d bytes instead of %d", got, size)
	}
	return err
}

// blocked closes a file after goroutines have begun to wait for it.
func blocked(file io.Closer, wait func() error, wanted error) error {
	var group sync.WaitGroup
	errs := make([]error, 4)
	for i := range errs {
		group.Add(1)
		go func(i int) {
			defer group.Done()
			errs[i] = want(wait(), wanted)
		}(i)
	}
	time.Sleep(20 * time.Millisecond)
	file.Close()
	group.Wait()
	return errors.Join(errs...)
}

func closeWhileReading() error {
	near, far, err := pair()
	if err != nil {
		return err
	}
	defer far.Close()
	return blocked(near, func() error {
		_, err := near.Read(make([]byte, 1))
		return err
	}, net.ErrClosed)
}

func closeWhileAccepting() error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	return blocked(listener, func() error {
		_, err := listener.Accept()
		return err
	}, net.ErrClosed)
}

func closeOfPipe() error {
	near, far, err := os.Pipe()
	if err != nil {
		return err
	}
	defer far.Close()
	return blocked(near, func() error {
		_, err := near.Read(make([]byte, 1))
		return err
	}, os.ErrClosed)
}

// A regular file can't be polled, and os must be told so.
func regularFile() error {
	file, err := os.CreateTemp("", "polled")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())
	defer file.Close()
	return want(file.SetDeadline(time.Now()), os.ErrNoDeadline)
}

func children() error {
	for i := 0; i < 5; i++ {
		out, err := exec.Command("/bin/echo", "hello").Output()
		if err != nil || string(out) != "hello\n" {
			return fmt.Errorf("%q, %v", out, err)
		}
	}
	return nil
}

func timers() error {
	begin := time.Now()
	for i := 0; i < 20; i++ {
		<-time.After(5 * time.Millisecond)
	}
	if took := time.Since(begin); took < 100*time.Millisecond {
		return fmt.Errorf("20 times 5 ms took %v", took)
	}
	return nil
}

// sets returns the links of those fds that are sets.
func sets() (found []string) {
	entries, _ := os.ReadDir("/proc/self/fd")
	for _, entry := range entries {
		link, _ := os.Readlink("/proc/self/fd/" + entry.Name())
		switch link {
		case "/dev/epoll", "/dev/misc/eventpoll", "anon_inode:[eventpoll]":
			found = append(found, link)
		}
	}
	return found
}

func tests(suffix string) {
	for _, test := range []struct {
		name string
		run  func() error
	}{
		{"many_connections_echo", manyConnections},
		{"a_deadline_ends_a_read", deadline},
		{"a_writer_waits_for_space", writerWaitsForSpace},
		{"a_close_ends_reads", closeWhileReading},
		{"a_close_ends_accepts", closeWhileAccepting},
		{"a_close_ends_reads_of_a_pipe", closeOfPipe},
		{"a_regular_file_has_no_deadline", regularFile},
		{"children_run", children},
		{"timers_expire", timers},
	} {
		result(test.name+suffix, within(test.run))
	}
}

func main() {
	tests("")
	found := sets()
	var err error
	if len(found) != 1 || found[0] != os.Args[1] {
		err = fmt.Errorf("its sets are %q", found)
	}
	result("the_set_is_"+os.Args[1], err)
	if len(os.Args) > 2 {
		result("the_entry_is_shut", os.WriteFile(os.Args[2], []byte("N"), 0))
		tests("_by_ioctl")
		result("the_entry_is_open", os.WriteFile(os.Args[2], []byte("Y"), 0))
	}
	fmt.Printf("1..%d\n", count)
	if failed > 0 {
		os.Exit(1)
	}
}
