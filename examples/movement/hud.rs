//! Panel with the pawn's state, and the key bindings.

use bevy::{ecs::system::SystemParam, prelude::*, time::common_conditions::on_real_timer};
use bevy_unlag::core::{CurrentTick, StepContext};
use bevy_unlag_movement::{BaseId, CapsuleConfig, MovementMode, MoverWorld, VolumeId};
use unlag_examples::screen::ui::{DIM, SHADE, TEXT, TEXT_INTERVAL, label};

use crate::{
    course::Course,
    key_bindings::HELP,
    pawn::{PawnState, Player},
    spawning::CurrentStation,
    timing::StepTimes,
    tour::Tour,
    tuning::Tuning,
};

/// Shows the panel and the key bindings.
pub struct HudPlugin;

impl Plugin for HudPlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(Startup, spawn).add_systems(Update, read_out.run_if(on_real_timer(TEXT_INTERVAL)));
    }
}

/// Value on the panel.
#[derive(Component, Clone, Copy)]
enum Readout {
    Station,
    Tour,
    Mode,
    Speed,
    Floor,
    Base,
    Volume,
    Jumps,
    Ledges,
    Pawns,
    Backend,
    Preset,
    Step,
}

const READOUTS: [(Readout, &str); 13] = [
    (Readout::Station, "Station"),
    (Readout::Tour, "Tour"),
    (Readout::Mode, "Mode"),
    (Readout::Speed, "Speed"),
    (Readout::Floor, "Floor"),
    (Readout::Base, "Base"),
    (Readout::Volume, "Volume"),
    (Readout::Jumps, "Jumps"),
    (Readout::Ledges, "Ledges (L)"),
    (Readout::Pawns, "Pawns (N)"),
    (Readout::Backend, "Backend (B)"),
    (Readout::Preset, "Preset (P)"),
    (Readout::Step, "A step"),
];

fn spawn(mut commands: Commands) {
    let panel = Node {
        position_type: PositionType::Absolute,
        left: px(12),
        top: px(12),
        width: px(300),
        padding: UiRect::all(px(10)),
        border_radius: BorderRadius::all(px(6)),
        flex_direction: FlexDirection::Column,
        ..default()
    };
    commands.spawn((panel, BackgroundColor(SHADE.with_alpha(0.92)))).with_children(|panel| {
        for (readout, name) in READOUTS {
            // Fixed height, so that the layout below never moves.
            let line = Node {
                height: px(17),
                justify_content: JustifyContent::SpaceBetween,
                align_items: AlignItems::Center,
                ..default()
            };
            panel.spawn((line, children![label(name, 13.0, DIM), (readout, label("-", 13.0, TEXT))]));
        }
    });
    let help = Node {
        position_type: PositionType::Absolute,
        left: px(12),
        bottom: px(10),
        padding: UiRect::axes(px(10), px(5)),
        border_radius: BorderRadius::all(px(6)),
        flex_direction: FlexDirection::Column,
        ..default()
    };
    commands.spawn((help, BackgroundColor(SHADE))).with_children(|help| {
        for line in HELP {
            help.spawn(label(line, 12.0, DIM));
        }
    });
}

/// Resources that the values are read from.
#[derive(SystemParam)]
struct HudData<'w, 's> {
    course: Res<'w, Course>,
    here: Res<'w, CurrentStation>,
    tour: Res<'w, Tour>,
    tuning: Res<'w, Tuning>,
    config: Res<'w, CapsuleConfig>,
    times: Res<'w, StepTimes>,
    tick: Res<'w, CurrentTick>,
    fixed: Res<'w, Time<Fixed>>,
    mover: MoverWorld<'w, 's>,
    players: Query<'w, 's, (Entity, &'static PawnState), With<Player>>,
}

fn read_out(known: HudData, mut texts: Query<(&Readout, &mut Text)>) {
    let Ok((entity, state)) = known.players.single() else { return };
    for (readout, mut text) in &mut texts {
        text.set_if_neq(Text(known.format_value(*readout, entity, state)));
    }
}

impl HudData<'_, '_> {
    fn format_value(&self, readout: Readout, entity: Entity, state: &PawnState) -> String {
        let body = &state.body;
        match readout {
            Readout::Station => {
                let name = self.course.0.get(self.here.0).map_or("-", |station| station.name);
                format!("{}  {name}", self.here.0 + 1)
            }
            Readout::Tour => {
                let of = |passed| self.tour.verdicts.iter().flatten().filter(|v| v.is_ok() == passed).count();
                let state = if self.tour.on { "walking" } else { "off" };
                format!("{state}, {} passed, {} failed", of(true), of(false))
            }
            Readout::Mode => {
                let name = match self.config.custom_mode(body.mode) {
                    Some(custom) => custom.name.clone(),
                    None => format!("{:?}", body.mode),
                };
                let crouched = if body.crouched { ", crouched" } else { "" };
                format!("{name}{crouched}")
            }
            Readout::Speed => {
                let up = body.velocity.dot(body.up);
                let level = (body.velocity - body.up * up).length();
                format!("{level:.2} m/s, {up:+.2} up")
            }
            Readout::Floor => self.floor(entity, state),
            Readout::Base if body.base == BaseId::NONE => "none".to_owned(),
            Readout::Base => format!("{}, at {:.2} m/s", body.base.0, body.base_velocity.length()),
            Readout::Volume if body.volume == VolumeId::NONE => "none".to_owned(),
            Readout::Volume => body.volume.0.to_string(),
            Readout::Jumps => format!("{} of {}", body.jumps, self.config.jump_max_count),
            Readout::Ledges => if self.tuning.stops_at_ledges { "stays on" } else { "walks off" }.to_owned(),
            Readout::Pawns => format!("{:?}", self.tuning.pawns),
            Readout::Backend => format!("{:?}", self.tuning.backend),
            Readout::Preset => format!("{:?}", self.tuning.preset),
            // Bevy's built-in font has no Greek letters.
            Readout::Step => {
                self.times.median().map_or_else(|| "-".to_owned(), |micros| format!("{micros:.1} us"))
            }
        }
    }

    fn floor(&self, entity: Entity, state: &PawnState) -> String {
        let dt = self.fixed.timestep().as_secs_f32();
        let ctx = StepContext { tick: self.tick.0.offset(1), dt, entity, replaying: false };
        let body = &state.body;
        match self.mover.probe(&self.config, body, &ctx).floor {
            None => "none in reach".to_owned(),
            Some(floor) => {
                let degrees = floor.normal.dot(body.up).clamp(-1.0, 1.0).acos().to_degrees();
                let steep = if floor.walkable { "" } else { ", steep" };
                let stands = body.mode == MovementMode::Walking;
                let gap = if stands { String::new() } else { format!(", {:.2} m below", floor.distance) };
                format!("{degrees:.0} deg{steep}{gap}")
            }
        }
    }
}
