//! Writer of Chrome's trace JSON, which needs no memory for the events.

use std::io::{self, Write};

use serde_json::{Value, json};

/// Place of an event: a process of the viewer, which is a player or the server, and a row in it.
pub type Row = (u32, u32);

/// Trace that is being written.
#[derive(Debug)]
pub struct TraceWriter<W: Write> {
    out: W,
    events: u64,
}

impl<W: Write> TraceWriter<W> {
    /// Starts a trace.
    ///
    /// # Errors
    /// Those of the output.
    pub fn new(mut out: W) -> io::Result<Self> {
        out.write_all(b"{\"displayTimeUnit\":\"ms\",\"traceEvents\":[")?;
        Ok(Self { out, events: 0 })
    }

    fn event(&mut self, event: &Value) -> io::Result<()> {
        let separator: &[u8] = if self.events == 0 { b"\n" } else { b",\n" };
        self.events += 1;
        self.out.write_all(separator)?;
        serde_json::to_writer(&mut self.out, event).map_err(io::Error::other)
    }

    /// Names a process, and its rows in their order from 1 on.
    ///
    /// # Errors
    /// Those of the output.
    pub fn name(&mut self, process: u32, name: &str, rows: &[&str]) -> io::Result<()> {
        let named = |kind: &str, row: u32, name: &str| {
            let args = json!({ "name": name });
            json!({ "ph": "M", "name": kind, "pid": process, "tid": row, "args": args })
        };
        self.event(&named("process_name", 0, name))?;
        for (row, name) in (1..).zip(rows) {
            self.event(&named("thread_name", row, name))?;
        }
        Ok(())
    }

    /// Writes something that lasts, at `seconds` for `duration` seconds.
    ///
    /// # Errors
    /// Those of the output.
    pub fn span(
        &mut self,
        (process, row): Row,
        name: &str,
        (seconds, duration): (f64, f64),
        args: &Value,
    ) -> io::Result<()> {
        self.event(&json!({
            "ph": "X", "name": name, "pid": process, "tid": row, "ts": micros(seconds),
            "dur": micros(duration.max(0.0)), "args": args,
        }))
    }

    /// Writes a moment.
    ///
    /// # Errors
    /// Those of the output.
    pub fn instant(&mut self, (process, row): Row, name: &str, seconds: f64, args: &Value) -> io::Result<()> {
        self.event(&json!({
            "ph": "i", "s": "t", "name": name, "pid": process, "tid": row, "ts": micros(seconds), "args": args,
        }))
    }

    /// Returns the number of events so far.
    #[must_use]
    pub fn events(&self) -> u64 {
        self.events
    }

    /// Ends the trace and returns the output.
    ///
    /// # Errors
    /// Those of the output.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.write_all(b"\n]}\n")?;
        self.out.flush()?;
        Ok(self.out)
    }
}

fn micros(seconds: f64) -> f64 {
    (seconds * 1e6).round()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trace_is_the_json_that_viewers_read() {
        let mut trace = TraceWriter::new(Vec::new()).expect("memory");
        trace.name(3, "player \"3\"", &["moves"]).expect("memory");
        trace.span((3, 1), "move", (0.5, 0.015_625), &json!({ "own": 7 })).expect("memory");
        trace.instant((3, 1), "hit", 0.75, &Value::Null).expect("memory");
        assert_eq!(trace.events(), 4);
        let bytes = trace.finish().expect("memory");
        let read: Value = serde_json::from_slice(&bytes).expect("JSON");
        let events = read["traceEvents"].as_array().expect("a list");
        assert_eq!(events.len(), 4);
        assert_eq!((&events[2]["ts"], &events[2]["dur"]), (&json!(500_000.0), &json!(15_625.0)));
        let empty = TraceWriter::new(Vec::new()).and_then(TraceWriter::finish).expect("memory");
        let read: Value = serde_json::from_slice(&empty).expect("JSON");
        assert_eq!(read["traceEvents"], json!([]));
    }
}
