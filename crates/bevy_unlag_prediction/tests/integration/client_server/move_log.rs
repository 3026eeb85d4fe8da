//! Logs of moves and corrections, under the filters that a user writes into `RUST_LOG`.

use core::fmt::Debug;
use std::sync::{Arc, Mutex, OnceLock};

use bevy::log::{
    tracing::{
        Dispatch, Event, Level, Subscriber,
        field::{Field, Visit},
        subscriber::with_default,
    },
    tracing_subscriber::{
        EnvFilter, Layer, Registry,
        layer::{Context, SubscriberExt},
    },
};
use bevy_unlag_prediction::{CorrectionCause, IncomingMoveAcks, IncomingMoves};

use crate::client_server::common::*;

struct Line {
    target: String,
    level: Level,
    text: String,
}

/// The lines that pass a filter, as a console would print them.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<Line>>>);

/// The message of an event.
#[derive(Default)]
struct Text(String);

impl Visit for Text {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        if field.name() == "message" {
            self.0 = format!("{value:?}");
        }
    }
}

impl<S: Subscriber> Layer<S> for Lines {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut text = Text::default();
        event.record(&mut text);
        let meta = event.metadata();
        let line = Line { target: meta.target().to_owned(), level: *meta.level(), text: text.0 };
        self.0.lock().expect("an unpoisoned lock").push(line);
    }
}

/// Keeps a second dispatcher alive: while there is only one, tracing takes the interest in a line from the
/// thread that reaches it first, which may be that of another test, without any.
static SECOND: OnceLock<Dispatch> = OnceLock::new();

/// Runs a pair and returns what this thread logs meanwhile under a filter.
fn logged(filter: &str, run: impl FnOnce(&mut Pair)) -> (Pair, Vec<Line>) {
    SECOND.get_or_init(|| Dispatch::new(Registry::default()));
    let lines = Lines::default();
    let filter = EnvFilter::try_new(filter).expect("a valid filter");
    let subscriber = Registry::default().with(filter).with(lines.clone());
    let pair = with_default(subscriber, || {
        let mut pair = Pair::new(1, LinkProfile::late(0.05));
        pair.play(circle);
        run(&mut pair);
        pair
    });
    let lines = core::mem::take(&mut *lines.0.lock().expect("an unpoisoned lock"));
    (pair, lines)
}

fn count(lines: &[Line], is: impl Fn(&str) -> bool) -> u64 {
    lines.iter().filter(|line| is(&line.text)).count() as u64
}

#[test]
fn move_log_has_a_line_for_each_packet_and_acknowledgement_sent_and_received() {
    let (pair, lines) = logged("bevy_unlag::moves=trace", |pair| pair.run(3.0));
    assert!(lines.iter().all(|line| line.target == "bevy_unlag::moves" && line.level == Level::TRACE));
    let (client, server) = (pair.client.stats(), pair.server.stats());
    let received_from = format!("server: {} sent packet ", pair.server.pawn);
    let sent_to = format!("server: to {} ", pair.server.pawn);
    let packets = count(&lines, |text| text.starts_with("client: packet "));
    let received = count(&lines, |text| text.starts_with(&received_from));
    let acks = count(&lines, |text| text.starts_with(&sent_to));
    let received_acks = count(&lines, |text| text.starts_with("client: acknowledgement "));
    assert!(packets > 150 && acks > 80, "{packets} packets, {acks} acknowledgements");
    assert_eq!((packets, acks), (client.packets, server.acks));
    // At a latency of 50 ms, three or four messages are in flight.
    assert!((packets - 5..=packets).contains(&received), "{received} of {packets} packets");
    assert!((acks - 5..=acks).contains(&received_acks), "{received_acks} of {acks} acknowledgements");
    assert_eq!(lines.len() as u64, packets + received + acks + received_acks);
    for Line { text, .. } in &lines {
        let packet = text.contains(" packet ");
        assert_eq!(text.contains("WalkerInput"), packet, "a packet's line has its runs: {text}");
        let sent = text.starts_with("client: packet ") || text.starts_with(&sent_to);
        assert_eq!(text.contains(" at ["), sent, "the sender's line has the position: {text}");
    }
}

#[test]
fn move_log_names_the_cause_of_a_correction_and_malformed_messages() {
    let (pair, lines) = logged("bevy_unlag::moves=trace", |pair| {
        pair.run(2.0);
        pair.server.edit::<WalkerState>().at.z += 0.7;
        pair.server.edit::<IncomingMoves>().deliver(vec![0; 2]);
        pair.client.edit::<IncomingMoveAcks>().deliver(vec![0; 2]);
        pair.run(1.0);
    });
    let cause = format!("{:?}", Some(CorrectionCause::ServerChange));
    for side in ["server: to ", "client: acknowledgement "] {
        assert!(count(&lines, |text| text.starts_with(side) && text.ends_with(&cause)) > 0, "{side}");
    }
    assert_eq!((pair.server.stats().malformed, pair.client.stats().malformed), (1, 1));
    for side in ["server: ", "client: "] {
        let malformed = |text: &str| text.starts_with(side) && text.ends_with(" 2 malformed bytes");
        assert_eq!(count(&lines, malformed), 1, "{side}");
    }
}

#[test]
fn correction_log_has_one_line_for_a_correction_with_its_size_and_cause() {
    let (pair, lines) = logged("bevy_unlag::corrections=debug", |pair| {
        pair.play(|_| WalkerInput::NOTHING);
        pair.run(2.0);
        pair.client.edit::<WalkerState>().at.z += 0.7;
        pair.run(2.0);
    });
    assert_eq!(pair.corrections(), 1);
    let [line] = &lines[..] else { panic!("{} lines", lines.len()) };
    assert_eq!((line.target.as_str(), line.level), ("bevy_unlag::corrections", Level::DEBUG));
    let cause = pair.seen().corrections[0].cause;
    assert!(line.text.starts_with(&format!("{}: 70.0 cm at ", pair.client.pawn)), "{}", line.text);
    assert!(line.text.ends_with(&format!(": {cause}")), "{}", line.text);
}

#[test]
fn default_filter_logs_no_moves_and_no_corrections() {
    let (pair, lines) = logged("info", |pair| {
        pair.run(2.0);
        pair.client.edit::<WalkerState>().at.z += 0.7;
        pair.run(1.0);
    });
    assert_eq!(pair.corrections(), 1);
    let own = lines.iter().filter(|line| line.target.starts_with("bevy_unlag::"));
    let texts: Vec<_> = own.map(|line| &line.text).collect();
    assert_eq!(texts, Vec::<&String>::new());
}
