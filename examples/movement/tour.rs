//! Scripted tour of the course, which checks every station.

use bevy::prelude::*;
use bevy_unlag::core::{CurrentTick, ExtendedEvent, MoveInput, MoveSystems, StepEvent};
use bevy_unlag_movement::{InputAccumulator, MovementBase};

use crate::{
    course::{Course, Station},
    expectation::Record,
    pawn::{Dummy, Pawn, PawnState, Player},
    script::{Act, IDLE, Keys},
    spawning::{Crate, ResetStation},
    tuning::Tuning,
};

/// Time at rest before a script starts, in seconds.
const SETTLE: f32 = 0.4;
/// Time at rest before a station is checked, in seconds.
const REST: f32 = 0.7;
/// Distance at which a position counts as reached, in metres.
const NEAR: f32 = 0.3;

/// State of the tour.
#[derive(Resource, Default)]
pub struct Tour {
    /// Whether the tour steers the player.
    pub on: bool,
    /// Index of the current station.
    pub station: usize,
    /// Results of the stations so far.
    pub verdicts: Vec<Option<Result<(), String>>>,
    stage: TourStage,
    record: Option<Record>,
}

#[derive(Clone, Copy, PartialEq, Default, Debug)]
enum TourStage {
    #[default]
    Begin,
    Settle {
        seconds: f32,
    },
    Act {
        index: usize,
        seconds: f32,
        /// Whether the awaited base was already at the position: the act waits for an arrival.
        there: bool,
    },
    Rest {
        seconds: f32,
    },
}

impl Tour {
    /// Starts the tour at a station.
    pub fn start(&mut self, station: usize) {
        (self.on, self.station, self.stage) = (true, station, TourStage::Begin);
    }

    /// Stops the tour, and returns control to the player.
    pub fn stop(&mut self) {
        self.on = false;
    }
}

/// Steers and checks while [`Tour::on`] is set.
pub fn plugin(app: &mut App) {
    app.init_resource::<Tour>().add_systems(
        FixedUpdate,
        (
            steer.run_if(|tour: Res<Tour>| tour.on).in_set(MoveSystems::Sample),
            watch.in_set(MoveSystems::React),
        ),
    );
}

fn steer(
    mut tour: ResMut<Tour>,
    course: Res<Course>,
    tick: Res<CurrentTick>,
    time: Res<Time<Fixed>>,
    bases: Query<&MovementBase>,
    mut tuning: ResMut<Tuning>,
    mut players: Query<(&PawnState, &mut MoveInput<Pawn>, &mut InputAccumulator), With<Player>>,
    mut commands: Commands,
) {
    let Some(station) = course.0.get(tour.station) else {
        tour.stop();
        return;
    };
    let Ok((state, mut input, mut gather)) = players.single_mut() else { return };
    let (dt, at) = (time.timestep().as_secs_f32(), state.body.position - station.origin);
    let (mut keys, mut yaw) = (IDLE, 0.0);
    match tour.stage {
        TourStage::Begin => {
            commands.trigger(ResetStation { station: tour.station });
            let Tuning { preset, backend, .. } = *tuning;
            tuning.set_if_neq(Tuning { preset, backend, ..station.tuning });
            tour.record = None;
            tour.stage = TourStage::Settle { seconds: 0.0 };
        }
        TourStage::Settle { seconds } if seconds < SETTLE => {
            tour.stage = TourStage::Settle { seconds: seconds + dt };
        }
        TourStage::Settle { .. } => {
            tour.record = Some(Record::new(station.origin, &state.body));
            tour.stage = TourStage::Act { index: 0, seconds: 0.0, there: true };
        }
        TourStage::Act { mut index, mut seconds, mut there } => {
            let now = f64::from(tick.0.0) * time.timestep().as_secs_f64();
            let base_at = |id: u16| {
                let base = bases.iter().find(|base| base.id.0 == id)?;
                Some(Vec3::from(base.track.pose(now).translation) - station.origin)
            };
            tour.stage = loop {
                let Some(act) = station.script.get(index) else { break TourStage::Rest { seconds: 0.0 } };
                let wish = evaluate_act(act, seconds, there, at, base_at);
                if !wish.done {
                    (keys, yaw) = (wish.keys, wish.yaw);
                    break TourStage::Act { index, seconds: seconds + dt, there: wish.there };
                }
                // Continues in the same tick: a tick without keys would slow down a run-up.
                (index, seconds, there) = (index + 1, 0.0, true);
            };
        }
        TourStage::Rest { seconds } if seconds < REST => {
            tour.stage = TourStage::Rest { seconds: seconds + dt }
        }
        TourStage::Rest { .. } => conclude(&mut tour, station, course.0.len()),
    }
    input.0 = keys.input(yaw);
    if keys != IDLE {
        // A player who takes over keeps facing the script's direction.
        gather.set_view(f64::from(yaw), 0.0);
    }
}

/// Output of an act in a tick.
struct ActOutput {
    keys: Keys,
    yaw: f32,
    /// Whether the awaited base is at the position.
    there: bool,
    /// Whether the act is finished.
    done: bool,
}

/// Evaluates an act after `seconds`, with the feet at `at`. `there` is the value of the last tick.
fn evaluate_act(
    act: &Act,
    seconds: f32,
    there: bool,
    at: Vec3,
    base_at: impl Fn(u16) -> Option<Vec3>,
) -> ActOutput {
    match *act {
        Act::Hold(length, keys) => ActOutput { keys, yaw: 0.0, there, done: seconds >= length },
        Act::Go { x, z, seconds: most, keys } => {
            let way = Vec2::new(x - at.x, z - at.z);
            let done = way.length() < NEAR || seconds >= most;
            ActOutput { keys, yaw: (-way.x).atan2(-way.y), there, done }
        }
        Act::Arrival { base, at, seconds: most } => {
            let near = base_at(base).is_some_and(|place| place.distance(at) < 0.02);
            ActOutput { keys: IDLE, yaw: 0.0, there: near, done: (near && !there) || seconds >= most }
        }
    }
}

fn conclude(tour: &mut Tour, station: &Station, stations: usize) {
    let verdict = tour.record.take().map(|record| record.verify(&station.expectations));
    tour.verdicts.resize(stations, None);
    let number = tour.station;
    if let Some(slot) = tour.verdicts.get_mut(number) {
        *slot = verdict;
    }
    tour.station += 1;
    tour.stage = TourStage::Begin;
    tour.on = tour.station < stations;
}

fn watch(
    mut tour: ResMut<Tour>,
    players: Query<(Entity, &PawnState, &MoveInput<Pawn>), With<Player>>,
    dummies: Query<(&PawnState, &Dummy), Without<Player>>,
    crates: Query<(&Transform, &Crate)>,
    mut events: MessageReader<StepEvent<Pawn>>,
) {
    let Ok((player, state, input)) = players.single() else { return };
    // Events are always drained, so that a later tour does not see old ones.
    let own_events = events.read().filter(|event| event.entity == player);
    let tour = tour.bypass_change_detection();
    let Some(record) = tour.record.as_mut().filter(|_| tour.on) else {
        own_events.for_each(drop);
        return;
    };
    for event in own_events {
        if let ExtendedEvent::Body(event) = &event.event {
            record.record_event(event);
        }
    }
    let level = |way: Vec3| way.with_y(0.0).length();
    let pushed = crates.iter().map(|(now, Crate(home))| level(now.translation - home.translation));
    let shoved = dummies.iter().map(|(state, Dummy(home))| level(state.body.position - *home));
    let idle = input.0 == IDLE.input(0.0);
    record.record_tick(&state.body, idle, pushed.chain(shoved).fold(0.0, f32::max));
}
