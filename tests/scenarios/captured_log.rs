//! Log lines of this thread, captured while a test runs.

use core::fmt::Debug;
use std::sync::{Arc, Mutex, OnceLock};

use bevy::log::{
    tracing::{
        Dispatch, Event, Subscriber,
        field::{Field, Visit},
        subscriber::with_default,
    },
    tracing_subscriber::{
        Layer, Registry,
        filter::LevelFilter,
        layer::{Context, SubscriberExt},
    },
};

/// Lines in the form `LEVEL target: message field=value …`.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<String>>>);

/// The message and the fields of an event.
struct Text(String);

impl Visit for Text {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let text = match field.name() {
            "message" => format!(" {value:?}"),
            name => format!(" {name}={value:?}"),
        };
        self.0.push_str(&text);
    }
}

impl<S: Subscriber> Layer<S> for Lines {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let meta = event.metadata();
        let mut text = Text(format!("{} {}:", meta.level(), meta.target()));
        event.record(&mut text);
        self.0.lock().expect("an unpoisoned lock").push(text.0);
    }
}

/// Keeps a second dispatcher alive: while there is only one, tracing takes the interest in a line from the
/// thread that reaches it first, which may be that of another test, without any.
static SECOND: OnceLock<Dispatch> = OnceLock::new();

/// Returns the lines of level info and above that this thread logs during `run`.
pub(crate) fn logged(run: impl FnOnce()) -> Vec<String> {
    SECOND.get_or_init(|| Dispatch::new(Registry::default()));
    let lines = Lines::default();
    with_default(Registry::default().with(LevelFilter::INFO).with(lines.clone()), run);
    let lines = lines.0.lock().expect("an unpoisoned lock");
    lines.clone()
}

/// Returns the messages of the errors that this thread logs during `run`.
pub(crate) fn errors(run: impl FnOnce()) -> Vec<String> {
    let lines = logged(run).into_iter().filter(|line| line.starts_with("ERROR "));
    lines.map(|line| line.split_once(": ").map_or("", |(_, text)| text).to_owned()).collect()
}
