// SPDX-License-Identifier: GPL-2.0

// Counts the instructions of a request to a server in Go: in a guest of
// tools/guest --icount, a nanosecond is an instruction.
//
// usage: rate KIND CONNECTIONS REQUESTS
//
// KIND is echo or http.  The server is a process of its own.  The client has
// blocking sockets, writes a request to each of its connections and then reads the
// answers; with 0 connections, it makes a connection for each request.
package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"
)

const body = "hello, world\n"

var requests = map[string]string{
	"echo": body,
	"http": "GET / HTTP/1.1\r\nHost: rate\r\n\r\n",
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "rate:", err)
		os.Exit(1)
	}
}

func serve(kind string) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	if kind == "http" {
		check(http.Serve(listener, http.HandlerFunc(
			func(w http.ResponseWriter, r *http.Request) {
				io.WriteString(w, body)
			})))
	}
	for {
		conn, err := listener.Accept()
		check(err)
		go func() {
			buf := make([]byte, 4096)
			for {
				n, err := conn.Read(buf)
				if err != nil {
					conn.Close()
					return
				}
				conn.Write(buf[:n])
			}
		}()
	}
}

func connect(port int) int {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	check(err)
	check(syscall.Connect(fd, &syscall.SockaddrInet4{
		Port: port, Addr: [4]byte{127, 0, 0, 1}}))
	return fd
}

// transfer makes a system call without telling Go's scheduler, so that the
// client's scheduler adds nothing to the count.
func transfer(call uintptr, fd int, buf []byte) int {
	n, _, errno := syscall.RawSyscall(call, uintptr(fd),
		uintptr(unsafe.Pointer(&buf[0])), uintptr(len(buf)))
	if errno != 0 || n == 0 {
		check(fmt.Errorf("%d bytes, %v", n, errno))
	}
	return int(n)
}

func exchange(fds []int, request, answer []byte) {
	for _, fd := range fds {
		transfer(syscall.SYS_WRITE, fd, request)
	}
	for _, fd := range fds {
		n := transfer(syscall.SYS_READ, fd, answer)
		if !strings.HasSuffix(unsafe.String(&answer[0], n), body) {
			check(fmt.Errorf("the answer is %q", answer[:n]))
		}
	}
}

func measure(port, conns, count int, request []byte) time.Duration {
	answer := make([]byte, 4096)
	var fds []int
	for i := 0; i < conns; i++ {
		fds = append(fds, connect(port))
	}
	run := func(count int) {
		if conns > 0 {
			for ; count > 0; count -= conns {
				exchange(fds, request, answer)
			}
			return
		}
		for ; count > 0; count-- {
			fd := connect(port)
			exchange([]int{fd}, request, answer)
			syscall.Close(fd)
		}
	}
	run(count / 4)
	begin := time.Now()
	run(count)
	return time.Since(begin)
}

func main() {
	if len(os.Args) == 3 {
		serve(os.Args[2])
	}
	kind := os.Args[1]
	conns, err := strconv.Atoi(os.Args[2])
	check(err)
	count, err := strconv.Atoi(os.Args[3])
	check(err)

	server := exec.Command("/proc/self/exe", "serve", kind)
	server.Stderr = os.Stderr
	pipe, err := server.StdoutPipe()
	check(err)
	check(server.Start())
	line, err := bufio.NewReader(pipe).ReadString('\n')
	check(err)
	port, err := strconv.Atoi(strings.TrimSpace(line))
	check(err)
	took := measure(port, conns, count, []byte(requests[kind]))
	fds := fmt.Sprintf("/proc/%d/fd/", server.Process.Pid)
	set := "none"
	for fd := 0; fd < 64; fd++ {
		link, _ := os.Readlink(fds + strconv.Itoa(fd))
		if link == "/dev/epoll" || strings.HasSuffix(link, "[eventpoll]") {
			set = link
		}
	}
	server.Process.Kill()
	fmt.Println(kind, conns, int(took)/count, set)
}
