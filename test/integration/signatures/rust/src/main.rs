//! Signs and verifies with the library for Rust. A request is a line, as peers.js describes.
use base64::{engine::general_purpose::STANDARD, Engine};
use http::HeaderMap;
use standardwebhooks::Webhook;
use std::io::{stdin, stdout, Write};

fn main() {
    for line in stdin().lines() {
        let line = line.expect("a line");
        let fields: Vec<&str> = line.split(' ').collect();
        println!("{}", respond(&fields));
        stdout().flush().expect("flushed");
    }
}

fn respond(fields: &[&str]) -> String {
    let webhook = Webhook::new(fields[1]).expect("a secret");
    let body = STANDARD.decode(fields[4]).expect("base64");
    if fields[0] == "sign" {
        let seconds = fields[3].parse().expect("seconds");
        return webhook.sign(fields[2], seconds, &body).expect("signed");
    }
    let mut headers = HeaderMap::new();
    headers.insert("webhook-id", fields[2].parse().expect("an id"));
    headers.insert("webhook-timestamp", fields[3].parse().expect("a time"));
    headers.insert("webhook-signature", fields[5].replace('|', " ").parse().expect("a signature"));
    match webhook.verify(&body, &headers) {
        Ok(()) => "genuine".into(),
        Err(_) => "refused".into(),
    }
}
