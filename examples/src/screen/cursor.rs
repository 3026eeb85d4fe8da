//! Mouse cursor: grabbed by the game, or free for the panels.

use bevy::{
    ecs::system::SystemParam,
    picking::hover::Hovered,
    prelude::*,
    window::{CursorGrabMode, CursorOptions, PrimaryWindow, WindowFocused},
};

use super::ui::PanelRoot;

/// Returns whether the mouse is grabbed.
#[must_use]
pub fn is_grabbed(cursors: Query<&CursorOptions, With<PrimaryWindow>>) -> bool {
    cursors.iter().any(|cursor| cursor.grab_mode != CursorGrabMode::None)
}

/// Returns whether the mouse is over a panel.
#[must_use]
pub fn is_over_panel(panels: Query<&Hovered, With<PanelRoot>>) -> bool {
    panels.iter().any(Hovered::get)
}

/// Grabs and releases the mouse.
#[derive(SystemParam)]
pub struct MouseGrab<'w, 's> {
    mouse: Res<'w, ButtonInput<MouseButton>>,
    keys: Res<'w, ButtonInput<KeyCode>>,
    focus: MessageReader<'w, 's, WindowFocused>,
    panels: Query<'w, 's, &'static Hovered, With<PanelRoot>>,
    cursors: Query<'w, 's, &'static mut CursorOptions, With<PrimaryWindow>>,
}

impl MouseGrab<'_, '_> {
    /// Grabs the mouse on a click beside the panels. One of the keys or a loss of focus releases it. Returns
    /// whether it was grabbed before and whether it is now; `None` without a window.
    pub fn update<const N: usize>(&mut self, release: [KeyCode; N]) -> Option<(bool, bool)> {
        let lost = self.focus.read().any(|event| !event.focused);
        let mut cursor = self.cursors.single_mut().ok()?;
        let was_grabbed = cursor.grab_mode != CursorGrabMode::None;
        let is_grabbed = if was_grabbed {
            !lost && !self.keys.any_just_pressed(release)
        } else {
            self.mouse.just_pressed(MouseButton::Left) && !self.panels.iter().any(Hovered::get)
        };
        if is_grabbed != was_grabbed {
            cursor.visible = !is_grabbed;
            cursor.grab_mode = if is_grabbed { CursorGrabMode::Locked } else { CursorGrabMode::None };
        }
        Some((was_grabbed, is_grabbed))
    }
}
