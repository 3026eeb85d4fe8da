//! The tests' stand-in for Agones' sidecar as a program, for `.ci/agones` and for trying a server without a cluster:
//! `agones_stand_in [PORT]`, then `AGONES_SDK_HTTP_PORT=PORT shooter server`.
//!
//! It prints `listening on ADDRESS`, and each request as a line. On standard input it takes lines until the end:
//!
//! * `allocate {"annotations": {"key": "value"}}` allocates the game server, as a matchmaker does.
//! * `answers junk` (`normal`, `huge`, `silent`, `nostream`) changes how it answers.

#[path = "../tests/integration/stand_in.rs"]
mod stand_in;

use core::{net::SocketAddr, time::Duration};
use std::{
    env,
    io::{self, Write},
    process::ExitCode,
    sync::Arc,
    thread,
};

use stand_in::{Answers, StandIn};

fn main() -> ExitCode {
    let port = env::args().nth(1).map_or(Ok(9_358), |text| text.parse());
    let Ok(port) = port else {
        return fail("expected a port, such as 9358; 0 takes any free one");
    };
    let stand_in = match StandIn::start(SocketAddr::from(([127, 0, 0, 1], port))) {
        Ok(stand_in) => Arc::new(stand_in),
        Err(error) => {
            return fail(&format!("cannot listen on TCP port {port} ({error}); choose another one"));
        }
    };
    say(&format!("listening on {}", stand_in.address()));
    let printed = stand_in.clone();
    thread::spawn(move || print_requests(&printed));
    for line in io::stdin().lines().map_while(Result::ok) {
        let (verb, rest) = line.split_once(' ').unwrap_or((line.as_str(), ""));
        match (verb, serde_json::from_str(rest), Answers::named(rest)) {
            ("allocate", Ok(metadata), _) => stand_in.allocate(&metadata),
            ("answers", _, Some(answers)) => {
                stand_in.set_answers(answers);
            }
            _ => return fail("expected lines such as: allocate {}, or: answers junk"),
        }
    }
    ExitCode::SUCCESS
}

fn print_requests(stand_in: &StandIn) {
    let mut printed = 0;
    loop {
        let requests = stand_in.requests();
        requests[printed..].iter().for_each(|request| say(request));
        printed = requests.len();
        thread::sleep(Duration::from_millis(20));
    }
}

/// Prints a line, which may be lost.
fn say(line: &str) {
    let _ = writeln!(io::stdout(), "{line}");
}

fn fail(line: &str) -> ExitCode {
    let _ = writeln!(io::stderr(), "error: {line}");
    ExitCode::from(2)
}
