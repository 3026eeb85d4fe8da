//! Keys and mouse.

use crate::screen::{cursor::is_over_panel, ui::PanelRoot};
use bevy::{
    input::mouse::{AccumulatedMouseMotion, AccumulatedMouseScroll},
    picking::hover::Hovered,
    prelude::*,
};
use bevy_unlag::{
    core::{NetId, ViewTime},
    record::{Playback, PlaybackCamera, PlaybackView},
};

/// Mouse sensitivity, in radians per pixel.
const SENSITIVITY: f32 = 0.004;
/// Speed of the free camera, in metres per second.
const FLY: f32 = 9.0;
/// Speeds that the arrow keys select.
const SPEEDS: [f32; 9] = [0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 6.0, 8.0];

/// Lines of the help.
pub(super) const HELP: [&str; 7] = [
    "Space  play or pause          Left, Right  one tick (Shift: one second)",
    "Up, Down  speed, 0.05 to 8    Home, End  start and end",
    "1  free camera    2  third person    3  first person",
    "Tab, Shift+Tab  next and previous player",
    "PageDown, PageUp  next and previous mark",
    "W A S D, Q E  fly (Shift: fast)    right mouse  look    wheel  distance",
    "L  back to live (spectators)    H  this help    mouse on the bar below  any moment",
];

/// Controls the playback and the free camera.
pub(super) fn plugin(app: &mut App) {
    let systems = (control_time, go_live, choose_view, jump_to_marks, turn, fly);
    app.add_systems(Update, systems.run_if(resource_exists::<Playback>));
}

/// L goes back to the newest moment of a match that still goes on.
fn go_live(keys: Res<ButtonInput<KeyCode>>, mut playback: ResMut<Playback>) {
    if keys.just_pressed(KeyCode::KeyL) {
        playback.go_live();
    }
}

fn control_time(keys: Res<ButtonInput<KeyCode>>, mut playback: ResMut<Playback>) {
    let shift = keys.any_pressed([KeyCode::ShiftLeft, KeyCode::ShiftRight]);
    if keys.just_pressed(KeyCode::Space) {
        if playback.is_playing() {
            playback.pause();
        } else {
            playback.play();
        }
    }
    for (key, direction) in [(KeyCode::ArrowLeft, -1), (KeyCode::ArrowRight, 1)] {
        if keys.just_pressed(key) {
            if shift {
                let seconds = playback.seconds() + f64::from(direction);
                playback.seek_seconds(seconds.max(0.0));
            } else {
                playback.step(direction);
            }
        }
    }
    if keys.any_just_pressed([KeyCode::ArrowUp, KeyCode::ArrowDown]) {
        let now = playback.speed();
        let faster = SPEEDS.into_iter().find(|speed| *speed > now * 1.01);
        let slower = SPEEDS.into_iter().rev().find(|speed| *speed < now * 0.99);
        let wanted = if keys.just_pressed(KeyCode::ArrowUp) { faster } else { slower };
        playback.set_speed(wanted.unwrap_or(now));
    }
    let (first, last) = playback.span();
    for (key, tick) in [(KeyCode::Home, first), (KeyCode::End, last)] {
        if keys.just_pressed(key) {
            playback.seek(ViewTime::at(tick));
        }
    }
}

fn choose_view(
    keys: Res<ButtonInput<KeyCode>>,
    mut playback: ResMut<Playback>,
    mut last: Local<Option<NetId>>,
) {
    // Players first, then pawns of nobody.
    let roster = playback.roster();
    let mut pawns: Vec<NetId> = roster.players().filter_map(|player| player.pawn).collect();
    let others = roster.pawns().map(|pawn| pawn.id);
    pawns.extend(others.filter(|id| roster.player_of(*id).is_none()).collect::<Vec<_>>());
    let view = playback.view();
    if let Some(pawn) = view.followed() {
        *last = Some(pawn);
    }
    let known = last.filter(|pawn| pawns.contains(pawn)).or(pawns.first().copied());
    let Some(pawn) = known else { return };
    if keys.just_pressed(KeyCode::Digit1) {
        playback.set_view(PlaybackView::Free);
    }
    if keys.just_pressed(KeyCode::Digit2) {
        playback.set_view(PlaybackView::ThirdPerson(pawn));
    }
    if keys.just_pressed(KeyCode::Digit3) {
        playback.set_view(PlaybackView::FirstPerson(pawn));
    }
    if keys.just_pressed(KeyCode::Tab) {
        let back = keys.any_pressed([KeyCode::ShiftLeft, KeyCode::ShiftRight]);
        let at = pawns.iter().position(|known| *known == pawn).unwrap_or(0);
        let step = if back { pawns.len() - 1 } else { 1 };
        let next = if view == PlaybackView::Free { pawn } else { pawns[(at + step) % pawns.len()] };
        playback.set_view(match view {
            PlaybackView::FirstPerson(_) => PlaybackView::FirstPerson(next),
            PlaybackView::Free | PlaybackView::ThirdPerson(_) => PlaybackView::ThirdPerson(next),
        });
    }
}

fn jump_to_marks(keys: Res<ButtonInput<KeyCode>>, mut playback: ResMut<Playback>) {
    let now = playback.time().tick;
    let marks = playback.index().marks();
    let next = marks.iter().find(|mark| mark.tick.is_newer_than(now)).map(|mark| mark.tick);
    let before = marks.iter().rev().find(|mark| now.is_newer_than(mark.tick)).map(|mark| mark.tick);
    let wanted = if keys.just_pressed(KeyCode::PageDown) {
        next
    } else if keys.just_pressed(KeyCode::PageUp) {
        before
    } else {
        None
    };
    if let Some(tick) = wanted {
        playback.seek(ViewTime::at(tick));
    }
}

/// Turns the free camera, or the third person about its pawn, while the right mouse button is held.
fn turn(
    buttons: Res<ButtonInput<MouseButton>>,
    (motion, scroll): (Res<AccumulatedMouseMotion>, Res<AccumulatedMouseScroll>),
    playback: Res<Playback>,
    panels: Query<&Hovered, With<PanelRoot>>,
    mut cameras: Query<(&mut PlaybackCamera, &mut Transform)>,
) {
    let over_panel = is_over_panel(panels);
    for (mut camera, mut place) in &mut cameras {
        if !over_panel && scroll.delta.y != 0.0 {
            camera.distance =
                (camera.distance * (1.0 - scroll.delta.y.clamp(-3.0, 3.0) * 0.1)).clamp(1.0, 20.0);
        }
        if !buttons.pressed(MouseButton::Right) || motion.delta == Vec2::ZERO {
            continue;
        }
        let turned = -motion.delta * SENSITIVITY;
        match playback.view() {
            PlaybackView::Free => {
                let (yaw, pitch, _) = place.rotation.to_euler(EulerRot::YXZ);
                let pitch = (pitch + turned.y).clamp(-1.5, 1.5);
                place.rotation = Quat::from_euler(EulerRot::YXZ, yaw + turned.x, pitch, 0.0);
            }
            PlaybackView::ThirdPerson(_) => camera.turn += turned,
            PlaybackView::FirstPerson(_) => {}
        }
    }
}

fn fly(
    (keys, time): (Res<ButtonInput<KeyCode>>, Res<Time<Real>>),
    playback: Res<Playback>,
    mut cameras: Query<&mut Transform, With<PlaybackCamera>>,
) {
    if playback.view() != PlaybackView::Free {
        return;
    }
    let axis = |more, less| f32::from(i8::from(keys.pressed(more)) - i8::from(keys.pressed(less)));
    let wish = Vec3::new(
        axis(KeyCode::KeyD, KeyCode::KeyA),
        axis(KeyCode::KeyE, KeyCode::KeyQ),
        axis(KeyCode::KeyS, KeyCode::KeyW),
    );
    let fast = if keys.pressed(KeyCode::ShiftLeft) { 3.0 } else { 1.0 };
    for mut place in &mut cameras {
        if wish != Vec3::ZERO {
            let way = place.rotation * Vec3::new(wish.x, 0.0, wish.z) + Vec3::Y * wish.y;
            place.translation += way * FLY * fast * time.delta_secs();
        }
    }
}
