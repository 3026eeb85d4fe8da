//! Heat map of the agreement matrix.

use std::path::Path;

use plotters::{
    prelude::*,
    style::text_anchor::{HPos, Pos, VPos},
};

use super::{
    cell::{Cell, CellResult},
    matrix::{JITTERS, LOSSES, RTTS, lines},
};
use crate::chart::{Drawn, Root, save};

const LEFT: i32 = 130;
const TOP: i32 = 70;
const CELL_WIDTH: i32 = 96;
const CELL_HEIGHT: i32 = 34;

/// Draws `agreement_matrix.svg` into a folder.
///
/// # Errors
/// Returns a message if the file cannot be written.
pub fn draw(folder: &Path, cells: &[CellResult]) -> Result<(), String> {
    let height = TOP + CELL_HEIGHT * (JITTERS.len() * LOSSES.len()) as i32 + 20;
    let size = (LEFT + CELL_WIDTH * RTTS.len() as i32 + 20, height);
    let size = (size.0.cast_unsigned(), size.1.cast_unsigned());
    save(folder, "agreement_matrix.svg", size, |root| paint(root, cells))
}

fn paint(root: &Root<'_>, cells: &[CellResult]) -> Drawn {
    let font = ("sans-serif", 14).into_font();
    let middle = font.clone().color(&BLACK).pos(Pos::new(HPos::Center, VPos::Center));
    let right = font.color(&BLACK).pos(Pos::new(HPos::Right, VPos::Center));
    let title = ("sans-serif", 18).into_font().color(&BLACK).pos(Pos::new(HPos::Left, VPos::Center));
    let caption = "Agreement in percent (lower of both ratios) by round trip, jitter and loss";
    root.draw(&Text::new(caption, (12, 22), title))?;
    for (column, rtt) in (0..).zip(RTTS) {
        let place = (LEFT + CELL_WIDTH * column + CELL_WIDTH / 2, TOP - 16);
        root.draw(&Text::new(format!("{rtt} ms"), place, middle.clone()))?;
    }
    for (line, (jitter, loss)) in (0..).zip(lines()) {
        let y = TOP + CELL_HEIGHT * line;
        let name = format!("± {jitter} ms, {loss} %");
        root.draw(&Text::new(name, (LEFT - 10, y + CELL_HEIGHT / 2), right.clone()))?;
        for (column, rtt) in (0..).zip(RTTS) {
            let Some(played) = cells.iter().find(|p| p.cell == Cell { rtt, jitter, loss }) else { continue };
            let (x, value) = (LEFT + CELL_WIDTH * column, played.agreement());
            let corners = [(x + 1, y + 1), (x + CELL_WIDTH - 1, y + CELL_HEIGHT - 1)];
            root.draw(&Rectangle::new(corners, colour(value).filled()))?;
            let place = (x + CELL_WIDTH / 2, y + CELL_HEIGHT / 2);
            root.draw(&Text::new(format!("{value:.3}"), place, middle.clone()))?;
        }
    }
    Ok(())
}

/// Maps agreement to a colour: green from 99.9 %, yellow from 99 %, then increasingly red down to 50 %.
fn colour(value: f64) -> RGBColor {
    match value {
        99.9.. => RGBColor(156, 214, 150),
        99.0.. => RGBColor(238, 230, 140),
        _ => {
            let part = ((value - 50.0) / 49.0).clamp(0.0, 1.0);
            RGBColor(240, (90.0 + 110.0 * part) as u8, (80.0 + 40.0 * part) as u8)
        }
    }
}
