// SPDX-License-Identifier: GPL-2.0
//! An HTTP server on tokio that gives the files of a folder, for
//! tools/proof/serve.  Tokio's sets are edge-triggered.  The server ends well at
//! a SIGTERM.
//!
//! usage: tokio_server PORT FOLDER

use std::collections::HashMap;
use std::io;
use std::rc::Rc;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::signal::unix::{signal, SignalKind};

type Files = HashMap<String, Vec<u8>>;

fn read_files(folder: &str) -> io::Result<Files> {
    let mut files = Files::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        files.insert(name, std::fs::read(entry.path())?);
    }
    Ok(files)
}

fn answer(head: &str, files: &Files) -> Vec<u8> {
    let path = head.split(' ').nth(1).unwrap_or("");
    let name = path.rsplit('/').next().unwrap_or("");
    let (status, body) = match files.get(name) {
        Some(body) => ("200 OK", &body[..]),
        None => ("404 Not Found", &[][..]),
    };
    let mut out = format!("HTTP/1.1 {}\r\nContent-Length: {}\r\n\r\n", status, body.len())
        .into_bytes();
    out.extend_from_slice(body);
    out
}

async fn serve(mut stream: TcpStream, files: Rc<Files>) -> io::Result<()> {
    const END: &[u8] = b"\r\n\r\n";
    let mut input = Vec::new();

    loop {
        while let Some(at) = input.windows(END.len()).position(|part| part == END) {
            let head = String::from_utf8_lossy(&input[..at]).into_owned();
            input.drain(..at + END.len());
            stream.write_all(&answer(&head, &files)).await?;
        }
        if stream.read_buf(&mut input).await? == 0 {
            return Ok(());
        }
    }
}

async fn run(port: u16, files: Rc<Files>) -> io::Result<()> {
    let listener = TcpListener::bind(("127.0.0.1", port)).await?;
    let mut end = signal(SignalKind::terminate())?;
    tokio::task::spawn_local(async move {
        end.recv().await;
        std::process::exit(0);
    });
    loop {
        let (stream, _) = listener.accept().await?;
        // A connection that is reset is no failure of the server.
        tokio::task::spawn_local(serve(stream, files.clone()));
    }
}

fn main() -> io::Result<()> {
    let arguments: Vec<String> = std::env::args().collect();
    if arguments.len() != 3 {
        eprintln!("usage: tokio_server PORT FOLDER");
        std::process::exit(2);
    }
    let port = arguments[1].parse().expect("PORT is a number");
    let files = Rc::new(read_files(&arguments[2])?);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    tokio::task::LocalSet::new().block_on(&runtime, run(port, files))
}
