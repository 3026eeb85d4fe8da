//! Errors that a test provokes, as the log shows them.

use core::fmt;
use std::sync::{Arc, Mutex};

use bevy::log::{
    tracing::{
        Event, Subscriber,
        field::{Field, Visit},
        subscriber::with_default,
    },
    tracing_subscriber::{
        Layer, Registry,
        filter::LevelFilter,
        layer::{Context, SubscriberExt},
    },
};

#[derive(Clone, Default)]
struct ErrorLines(Arc<Mutex<Vec<String>>>);

struct Sentence(String);

impl Visit for Sentence {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if field.name() == "message" {
            self.0 = format!("{value:?}");
        }
    }
}

impl<S: Subscriber> Layer<S> for ErrorLines {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut sentence = Sentence(String::new());
        event.record(&mut sentence);
        self.0.lock().expect("an unpoisoned lock").push(sentence.0);
    }
}

/// Returns the errors that this thread logs during `run`.
pub(crate) fn errors(run: impl FnOnce()) -> Vec<String> {
    let lines = ErrorLines::default();
    let subscriber = Registry::default().with(LevelFilter::ERROR).with(lines.clone());
    with_default(subscriber, run);
    let lines = lines.0.lock().expect("an unpoisoned lock");
    lines.clone()
}
