//! Panel with the pawn's state, and the key bindings.

use bevy::prelude::*;
use bevy_unlag::core::{CurrentTick, StepContext};
use bevy_unlag_movement::{BaseId, CapsuleConfig, MovementMode, MoverWorld, VolumeId};
use unlag_examples::screen::ui::{help, left_panel, readout};

use crate::{
    course::Course,
    key_bindings::HELP,
    pawn::{PawnState, Player},
    spawning::CurrentStation,
    timing::StepTimes,
    tour::Tour,
    tuning::Tuning,
};

type Own<'w, 's> = Single<'w, 's, &'static PawnState, With<Player>>;

/// Spawns the panel and the key bindings.
pub fn spawn(mut commands: Commands) {
    left_panel(&mut commands, |panel| {
        readout(panel, "Station", |course: Res<Course>, here: Res<CurrentStation>| {
            let name = course.0.get(here.0).map_or("-", |station| station.name);
            format!("{}  {name}", here.0 + 1)
        });
        readout(panel, "Tour", |tour: Res<Tour>| {
            let of = |passed| tour.verdicts.iter().flatten().filter(|v| v.is_ok() == passed).count();
            let state = if tour.on { "walking" } else { "off" };
            format!("{state}, {} passed, {} failed", of(true), of(false))
        });
        readout(panel, "Mode", mode);
        readout(panel, "Speed", |own: Own| {
            let body = &own.body;
            let up = body.velocity.dot(body.up);
            let level = (body.velocity - body.up * up).length();
            format!("{level:.2} m/s, {up:+.2} up")
        });
        readout(panel, "Floor", floor);
        readout(panel, "Base", |own: Own| match own.body.base {
            BaseId::NONE => "none".to_owned(),
            base => format!("{}, at {:.2} m/s", base.0, own.body.base_velocity.length()),
        });
        readout(panel, "Volume", |own: Own| match own.body.volume {
            VolumeId::NONE => "none".to_owned(),
            volume => volume.0.to_string(),
        });
        readout(panel, "Jumps", |own: Own, config: Res<CapsuleConfig>| {
            format!("{} of {}", own.body.jumps, config.jump_max_count)
        });
        readout(panel, "Ledges (L)", |tuning: Res<Tuning>| {
            if tuning.stops_at_ledges { "stays on" } else { "walks off" }.to_owned()
        });
        readout(panel, "Pawns (N)", |tuning: Res<Tuning>| format!("{:?}", tuning.pawns));
        readout(panel, "Backend (B)", |tuning: Res<Tuning>| format!("{:?}", tuning.backend));
        readout(panel, "Preset (P)", |tuning: Res<Tuning>| format!("{:?}", tuning.preset));
        // Bevy's built-in font has no Greek letters.
        readout(panel, "A step", |times: Res<StepTimes>| {
            times.median().map_or_else(|| "-".to_owned(), |micros| format!("{micros:.1} us"))
        });
    });
    help(&mut commands, &HELP);
}

fn mode(own: Own, config: Res<CapsuleConfig>) -> String {
    let name = match config.custom_mode(own.body.mode) {
        Some(custom) => custom.name.clone(),
        None => format!("{:?}", own.body.mode),
    };
    let crouched = if own.body.crouched { ", crouched" } else { "" };
    format!("{name}{crouched}")
}

fn floor(
    own: Single<(Entity, &PawnState), With<Player>>,
    config: Res<CapsuleConfig>,
    tick: Res<CurrentTick>,
    fixed: Res<Time<Fixed>>,
    mover: MoverWorld,
) -> String {
    let (entity, state) = *own;
    let body = &state.body;
    let dt = fixed.timestep().as_secs_f32();
    let ctx = StepContext { tick: tick.0.offset(1), dt, entity, replaying: false };
    let Some(floor) = mover.probe(&config, body, &ctx).floor else { return "none in reach".to_owned() };
    let degrees = floor.normal.dot(body.up).clamp(-1.0, 1.0).acos().to_degrees();
    let steep = if floor.walkable { "" } else { ", steep" };
    let stands = body.mode == MovementMode::Walking;
    let gap = if stands { String::new() } else { format!(", {:.2} m below", floor.distance) };
    format!("{degrees:.0} deg{steep}{gap}")
}
