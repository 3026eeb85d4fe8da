//! Seeking in a file: from a view time to the screen of a player at that moment.

use bevy_unlag::record::{PlayerNumber, Recording};
use std::io::Cursor;

use super::played::Played;
use crate::prelude::*;

/// Number of seeks.
const SEEKS: u32 = 300;

pub fn measure(played: &Played, figures: &mut Figures) -> Result<(), String> {
    let recording = played.open()?;
    let (first, last) = recording.span().ok_or("nothing was recorded")?;
    let ticks = last.since(first);
    let (mut times, mut linear) = (Vec::new(), Vec::new());
    let (mut lost, mut pawns) = (0, 0);
    for seek in 0..SEEKS {
        let time =
            ViewTime { tick: first.offset(ticks * seek.cast_signed() / SEEKS.cast_signed()), fraction: 99 };
        let player = PlayerNumber((seek % 8) as u16);
        let began = Instant::now();
        // With opening the file.
        let mut opened = Recording::read(Cursor::new(&played.bytes[..])).map_err(|e| e.to_string())?;
        let screen = opened.screen_at(player, time);
        times.push(began.elapsed().as_secs_f64() * 1e3);
        match screen {
            Ok(screen) => pawns += screen.pawns().count(),
            Err(_) => lost += 1,
        }
        if seek.is_multiple_of(30) {
            // The control: a reader without an index decodes everything before.
            let began = Instant::now();
            let read = opened.read_span(first, time.tick).map_err(|e| e.to_string())?;
            let share = f64::from(time.tick.since(first).max(1)) / f64::from(ticks.max(1));
            // As far as to the middle of ten minutes.
            linear.push(began.elapsed().as_secs_f64() * 1e3 / share / played.seconds * 300.0);
            drop(read);
        }
    }
    let average = median(&mut times);
    let note = format!(
        "median {average:.2}, {SEEKS} seeks in {:.0} s, {lost} without a screen, {:.1} pawns each",
        played.seconds,
        pawns as f64 / f64::from(SEEKS)
    );
    figures.add_noted("seek_ms_p99", quantile(&mut times, 0.99), note)?;
    figures.add_noted("seeks_without_screen", f64::from(lost), String::new())?;
    figures.add("control_seek_ms_from_the_start", median(&mut linear))
}
