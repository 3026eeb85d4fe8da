//! Key bindings.

use bevy::prelude::*;
use bevy_unlag::rewind::HitGroup;

use crate::{
    document::{Document, Form},
    stance::Stance,
};

/// Help lines on the screen.
pub const HELP: [&str; 2] = [
    "click or Tab: select   right mouse, wheel: look   Space: walk   C: crouch   G: group   F: form",
    "N: copy   Del: delete   M: measure bounds   Ctrl+S: save   R: reload the file",
];

/// Edits the document.
pub fn edit(keys: Res<ButtonInput<KeyCode>>, mut document: ResMut<Document>) {
    for key in keys.get_just_pressed() {
        match key {
            KeyCode::Tab => {
                document.step(!keys.any_pressed([KeyCode::ShiftLeft, KeyCode::ShiftRight]));
            }
            KeyCode::KeyG => {
                let next = match document.current().group {
                    HitGroup::Head => HitGroup::Body,
                    HitGroup::Body => HitGroup::Limb,
                    HitGroup::Limb => HitGroup::Head,
                };
                document.regroup(next);
            }
            KeyCode::KeyF => {
                let next = match Form::of(&document.current().shape) {
                    Form::Box => Form::Ball,
                    Form::Ball => Form::Capsule,
                    Form::Capsule => Form::Box,
                };
                document.reshape(next);
            }
            KeyCode::KeyN => document.add(),
            KeyCode::Delete => document.delete(),
            KeyCode::KeyM => document.measure(),
            KeyCode::KeyS if keys.any_pressed([KeyCode::ControlLeft, KeyCode::ControlRight]) => {
                document.save();
            }
            KeyCode::KeyR => document.reload(),
            _ => {}
        }
    }
}

/// Changes the pose.
pub fn pose(keys: Res<ButtonInput<KeyCode>>, mut stance: ResMut<Stance>) {
    if keys.just_pressed(KeyCode::Space) {
        stance.walking = !stance.walking;
        if stance.walking && stance.speed == 0.0 {
            stance.speed = 3.0;
        }
    }
    if keys.just_pressed(KeyCode::KeyC) {
        stance.crouch = if stance.crouch > 0.5 { 0.0 } else { 1.0 };
    }
}
