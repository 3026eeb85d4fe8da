//! Profile of the server frame: timestamps between the system sets that order it, and times of single sends of
//! replication.

use bevy::{
    app::{FixedMainScheduleOrder, MainScheduleOrder},
    ecs::{
        schedule::{InternedScheduleLabel, ScheduleConfigs, ScheduleLabel},
        system::ScheduleSystem,
    },
};
use bevy_replicon::{prelude::ServerSystems, server::server_tick::ServerTick};
use lightyear::{
    connection::ConnectionSystems,
    link::LinkSystems,
    prelude::{MessageSystems, ReplicationSystems},
};
use lightyear_transport::plugin::TransportSystems;

use crate::prelude::*;

/// Accumulated nanoseconds per section of the frame.
#[derive(Resource)]
pub struct FrameProfile {
    last: Instant,
    sums: Vec<(&'static str, u64)>,
}

impl Default for FrameProfile {
    fn default() -> Self {
        Self { last: Instant::now(), sums: Vec::new() }
    }
}

impl FrameProfile {
    /// Starts the clock at the beginning of a frame.
    pub fn start(&mut self) {
        self.last = Instant::now();
    }

    fn end_section(&mut self, name: &'static str) {
        let now = Instant::now();
        let nanos = (now - self.last).as_nanos() as u64;
        self.last = now;
        match self.sums.iter_mut().find(|(known, _)| *known == name) {
            Some((_, sum)) => *sum += nanos,
            None => self.sums.push((name, nanos)),
        }
    }

    /// Returns the nanoseconds per section in frame order and resets them.
    pub fn take(&mut self) -> Vec<(&'static str, u64)> {
        core::mem::take(&mut self.sums)
    }
}

/// Durations of the ticks' sends of replication. Most ticks have none: it is sent with the snapshots.
#[derive(Resource, Default)]
pub struct ReplicationTimes {
    began: Option<Instant>,
    nanos: Vec<u64>,
}

impl ReplicationTimes {
    /// Returns the nanoseconds of each send since the last call.
    pub fn take(&mut self) -> Vec<u64> {
        core::mem::take(&mut self.nanos)
    }
}

fn begin_replication(mut times: ResMut<ReplicationTimes>) {
    times.began = Some(Instant::now());
}

fn end_replication(mut times: ResMut<ReplicationTimes>) {
    if let Some(began) = times.began.take() {
        let nanos = began.elapsed().as_nanos() as u64;
        times.nanos.push(nanos);
    }
}

/// Schedule that runs one timestamp system after another schedule.
#[derive(ScheduleLabel, Clone, PartialEq, Eq, Hash, Debug)]
struct AfterSchedule(InternedScheduleLabel);

/// Returns a system that ends the section `name`.
fn timestamp(name: &'static str) -> impl Fn(ResMut<FrameProfile>) {
    move |mut laps| laps.end_section(name)
}

/// Returns a system that ends the section `name` between two system sets.
pub fn between(
    name: &'static str,
    after: impl SystemSet,
    before: impl SystemSet,
) -> ScheduleConfigs<ScheduleSystem> {
    timestamp(name).after(after).before(before)
}

/// Adds the timestamps. Each section is named by the timestamp that ends it. Systems outside the ordered sets
/// count towards whichever section the executor runs them in.
pub fn plugin(app: &mut App) {
    app.init_resource::<FrameProfile>()
        .init_resource::<ReplicationTimes>()
        .add_systems(
            PreUpdate,
            (
                between("sockets and what is theirs", LinkSystems::Receive, ConnectionSystems::Receive),
                between("datagrams, netcode, packets", ConnectionSystems::Receive, TransportSystems::Receive),
                between("transport", TransportSystems::Receive, MessageSystems::Receive),
                between("messages", MessageSystems::Receive, ReplicationSystems::Receive),
            ),
        )
        .add_systems(
            FixedUpdate,
            (
                between("before moves", MoveSystems::Extend, MoveSystems::Step),
                between("moves", MoveSystems::Step, MoveSystems::React),
            ),
        )
        .add_systems(
            FixedPostUpdate,
            (
                between("what is shown", MoveSystems::Publish, RewindSystems::Record),
                between("recording frames", RewindSystems::Record, RewindSystems::UpdateTable),
                between("following the table", RewindSystems::UpdateTable, WeaponSystems::Validate),
                between("resolving shots", WeaponSystems::Validate, WeaponSystems::AdvanceProjectiles),
            ),
        )
        .add_systems(
            PostUpdate,
            (
                timestamp("before replication").before(ReplicationSystems::Send),
                begin_replication
                    .in_set(ReplicationSystems::Send)
                    .before(ServerSystems::IncrementTick)
                    .run_if(resource_exists_and_changed::<ServerTick>),
                end_replication.after(ReplicationSystems::Send).before(MessageSystems::Send),
                between("replication", ReplicationSystems::Send, MessageSystems::Send),
                between("writing messages", MessageSystems::Send, TransportSystems::Send),
                between("packing", TransportSystems::Send, ConnectionSystems::Send),
                between("encrypting", ConnectionSystems::Send, LinkSystems::Send),
                timestamp("sending").after(LinkSystems::Send),
            ),
        );
    end_of(app, First, "beginning");
    end_of(app, PreUpdate, "mailboxes");
    end_of(app, Update, "rest of the main loop");
    end_of(app, PostUpdate, "rest of sending");
    end_of(app, Last, "ending");
    end_of(app, FixedPreUpdate, "before the tick");
    end_of(app, FixedUpdate, "after moves");
    end_of(app, FixedPostUpdate, "projectiles, rest of the tick");
    end_of(app, FixedLast, "damage and rules");
}

/// Ends the section `name` after a schedule of the main or the fixed main loop.
pub fn end_of(app: &mut App, schedule: impl ScheduleLabel, name: &'static str) {
    let label = AfterSchedule(schedule.intern());
    app.init_schedule(label.clone()).add_systems(label.clone(), timestamp(name));
    let mut fixed = app.world_mut().resource_mut::<FixedMainScheduleOrder>();
    if fixed.labels.contains(&schedule.intern()) {
        fixed.insert_after(schedule, label);
    } else {
        app.world_mut().resource_mut::<MainScheduleOrder>().insert_after(schedule, label);
    }
}
