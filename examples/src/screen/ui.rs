//! Text, lines, panels and buttons.

use core::time::Duration;

use bevy::{picking::hover::Hovered, prelude::*, ui_widgets::Button};

/// Colour of text.
pub const TEXT: Color = Color::srgb(0.93, 0.94, 0.96);
/// Colour of labels.
pub const DIM: Color = Color::srgb(0.72, 0.75, 0.80);
/// Colour of headings.
pub const HEADING: Color = Color::srgb(0.55, 0.80, 1.0);
/// Background of panels.
pub const SHADE: Color = Color::srgba(0.04, 0.05, 0.07, 0.84);
/// Font size on panels.
pub const FONT: f32 = 13.0;
/// Minimum interval between updates of a text.
pub const TEXT_INTERVAL: Duration = Duration::from_millis(100);

const BUTTON: Color = Color::srgb(0.17, 0.20, 0.25);
const BUTTON_HOVERED: Color = Color::srgb(0.27, 0.33, 0.42);
const BUTTON_ACTIVE: Color = Color::srgb(0.10, 0.40, 0.62);

/// Creates a text without line breaks. Bevy's built-in font covers ASCII only.
pub fn label(text: impl Into<String>, size: f32, colour: Color) -> impl Bundle {
    (Text::new(text), TextFont::from_font_size(size), TextColor(colour), TextLayout::no_wrap())
}

/// Marks a panel; [`Hovered`] says whether the mouse is over it.
#[derive(Component, Debug)]
#[require(Hovered)]
pub struct PanelRoot;

/// Returns the node of a panel 300 pixels wide. Set its `left` or `right`.
#[must_use]
pub fn panel_node() -> Node {
    Node {
        position_type: PositionType::Absolute,
        top: px(12),
        width: px(300),
        padding: UiRect::all(px(10)),
        border_radius: BorderRadius::all(px(6)),
        ..column()
    }
}

/// Returns the node of a line with a fixed height, so that the layout below never moves.
#[must_use]
pub fn line(height: f32) -> Node {
    Node {
        height: px(height),
        flex_shrink: 0.0,
        justify_content: JustifyContent::SpaceBetween,
        align_items: AlignItems::Center,
        ..default()
    }
}

/// Returns a node that stacks its children vertically.
#[must_use]
pub fn column() -> Node {
    Node { flex_direction: FlexDirection::Column, ..default() }
}

/// Spawns a heading.
pub fn heading(panel: &mut ChildSpawnerCommands, text: &str) {
    panel.spawn((line(22.0), children![label(text, 14.0, HEADING)]));
}

/// Spawns a heading and one line for each number: its name, and the value that `readout` marks.
pub fn readouts<R: Component + Copy>(panel: &mut ChildSpawnerCommands, title: &str, all: &[(R, &str)]) {
    heading(panel, title);
    for (readout, name) in all {
        let value = (*readout, label("-", FONT, TEXT));
        panel.spawn((line(16.0), children![label(*name, FONT, DIM), value]));
    }
}

/// Creates a button marked by `choice`; see [`button_colour`].
pub fn button<C: Component>(choice: C, width: Val, text: &str) -> impl Bundle + use<C> {
    let (padding, border_radius) = (UiRect::horizontal(px(6)), BorderRadius::all(px(4)));
    (
        choice,
        Button,
        Hovered::default(),
        Node { width, padding, border_radius, justify_content: JustifyContent::Center, ..line(22.0) },
        BackgroundColor(BUTTON),
        children![label(text.to_owned(), FONT, TEXT)],
    )
}

/// Returns the background of a button.
#[must_use]
pub fn button_colour(active: bool, hovered: &Hovered) -> BackgroundColor {
    BackgroundColor(match (active, hovered.get()) {
        (true, _) => BUTTON_ACTIVE,
        (false, true) => BUTTON_HOVERED,
        (false, false) => BUTTON,
    })
}
