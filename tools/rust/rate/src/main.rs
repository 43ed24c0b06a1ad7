// SPDX-License-Identifier: GPL-2.0
//! Counts the instructions of a request to a server of HTTP: in a guest of
//! tools/guest --icount, a nanosecond is an instruction.
//!
//! usage: rate CONNECTIONS REQUESTS PORT SERVER [ARGUMENT...]
//!
//! The client has blocking sockets, writes a request to each of its connections
//! and then reads the answers; with 0 connections, it makes one for each request.
//! Prints the count, and what the set of the server is.

use std::error::Error;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::{exit, Child, Command};
use std::time::Instant;

type Outcome<T> = Result<T, Box<dyn Error>>;

const REQUEST: &[u8] = b"GET /0 HTTP/1.1\r\nHost: rate\r\n\r\n";

fn exchange(streams: &mut [TcpStream]) -> Outcome<()> {
    let mut answer = [0; 4096];
    for stream in streams.iter_mut() {
        stream.write_all(REQUEST)?;
    }
    for stream in streams {
        let n = stream.read(&mut answer)?;
        if !answer[..n].starts_with(b"HTTP/1.1 200 ") {
            return Err(String::from_utf8_lossy(&answer[..n]).into());
        }
    }
    Ok(())
}

/// Makes at least so many requests, and returns how many.
fn ask(address: (&str, u16), streams: &mut [TcpStream], requests: usize) -> Outcome<usize> {
    let mut made = 0;
    while made < requests {
        if streams.is_empty() {
            exchange(&mut [TcpStream::connect(address)?])?;
            made += 1;
        } else {
            exchange(streams)?;
            made += streams.len();
        }
    }
    Ok(made)
}

fn measure(server: &mut Child, port: u16, connections: usize, requests: usize) -> Outcome<u128> {
    let address = ("127.0.0.1", port);
    while TcpStream::connect(address).is_err() {
        if let Some(status) = server.try_wait()? {
            return Err(format!("the server ended: {}", status).into());
        }
    }
    let streams: Result<Vec<_>, _> = (0..connections).map(|_| TcpStream::connect(address)).collect();
    let mut streams = streams?;
    ask(address, &mut streams, requests / 4)?;
    let begin = Instant::now();
    let made = ask(address, &mut streams, requests)?;
    Ok(begin.elapsed().as_nanos() / made as u128)
}

fn set_of(server: &Child) -> Outcome<String> {
    for entry in std::fs::read_dir(format!("/proc/{}/fd", server.id()))? {
        let link = std::fs::read_link(entry?.path())?;
        let link = link.to_string_lossy();
        if link == "/dev/epoll" || link.ends_with("[eventpoll]") {
            return Ok(link.into_owned());
        }
    }
    Err("the server has no set".into())
}

fn run(arguments: &[String]) -> Outcome<()> {
    let [connections, requests, port, server, rest @ ..] = arguments else {
        return Err("usage: rate CONNECTIONS REQUESTS PORT SERVER [ARGUMENT...]".into());
    };
    let (connections, requests, port) = (connections.parse()?, requests.parse()?, port.parse()?);
    let mut server = Command::new(server).args(rest).spawn()?;
    let done = measure(&mut server, port, connections, requests)
        .and_then(|count| Ok((count, set_of(&server)?)));
    server.kill()?;
    server.wait()?;
    let (count, set) = done?;
    println!("{} {}", count, set);
    Ok(())
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let Err(error) = run(&arguments) {
        eprintln!("rate: {}", error);
        exit(1);
    }
}
