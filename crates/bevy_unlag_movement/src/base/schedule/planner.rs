//! Planning of commands to bases on the server, and following of its announcements on clients.

use core::time::Duration;

use bevy::{platform::collections::HashMap, prelude::*};
use bevy_unlag_core::{
    BaseScheduleMailbox, BitReader, CurrentTick, MatchReset, RoundTrip, ServerLeft, Tick, TickSystems, Wire,
};

use super::BaseAnnouncement;
use crate::{
    base::{BaseId, BaseTrack, MovementBase},
    system_sets::MoverSceneSystems,
};

/// Ticks after a change at which it is announced. A lost message is replaced sooner than a transport repeats it.
const ANNOUNCED_AFTER: [i32; 3] = [0, 2, 4];
/// Maximum number of bases that a client follows.
const MAX_FOLLOWED: usize = 4_096;

/// Timing of bases that move on command ([`BaseSchedule`](super::BaseSchedule)), on the server.
#[derive(Resource, Clone, Copy, PartialEq, Eq, Debug, Reflect)]
#[reflect(Resource, Debug, Default)]
pub struct BaseScheduleConfig {
    /// Maximum time from a command to the start of the motion. Default: 250 ms. The time is as long as the slowest
    /// client needs to hear of the command: half its round trip, its jitter and the time of two lost messages.
    /// Riders whose client needs more than this are corrected. Raising it serves slower links, and lets a base start
    /// later for all players while one of them has such a link. 0 starts at once.
    pub max_lead: Duration,
}

impl Default for BaseScheduleConfig {
    fn default() -> Self {
        Self { max_lead: Duration::from_millis(250) }
    }
}

/// Newest announcements of the server.
#[derive(Resource, Default)]
pub(crate) struct FollowedSchedules(HashMap<BaseId, BaseAnnouncement>);

pub(crate) fn add_systems(app: &mut App) {
    app.init_resource::<BaseScheduleConfig>()
        .init_resource::<BaseScheduleMailbox>()
        .init_resource::<FollowedSchedules>()
        .add_observer(return_home)
        .add_observer(|_: On<ServerLeft>, mut followed: ResMut<FollowedSchedules>| followed.0.clear())
        .add_systems(
            FixedUpdate,
            (follow_announcements, plan_commands).chain().before(MoverSceneSystems::Sync).in_set(TickSystems),
        );
}

/// Moves the bases of a client as its server announces.
fn follow_announcements(
    fixed: Res<Time<Fixed>>,
    mut mailbox: ResMut<BaseScheduleMailbox>,
    mut followed: ResMut<FollowedSchedules>,
    mut bases: Query<&mut MovementBase>,
) {
    if !mailbox.follows_server {
        return;
    }
    let has_news = mailbox.has_received();
    if has_news {
        for message in mailbox.take_received() {
            let Ok(announced) = BaseAnnouncement::read(&mut BitReader::new(&message)) else {
                warn_once!("the server sent the schedule of a movement base that cannot be read");
                continue;
            };
            let known = followed.0.get(&announced.base);
            let counts =
                known.map_or(followed.0.len() < MAX_FOLLOWED, |known| known.number < announced.number);
            if counts {
                followed.0.insert(announced.base, announced);
            }
        }
    }
    let tick_seconds = fixed.timestep().as_secs_f64();
    for mut base in &mut bases {
        // A base may be spawned, or changed by the game, after its announcement.
        if !has_news && !base.is_changed() {
            continue;
        }
        let Some(announced) = followed.0.get(&base.id) else { continue };
        let BaseTrack::Scheduled(schedule) = &base.track else { continue };
        if schedule.command.is_some() {
            warn_once!("a command to a movement base has no effect on a client: its server decides");
        }
        if (schedule.command.is_some() || schedule.path != announced.path)
            && let BaseTrack::Scheduled(schedule) = &mut base.track
        {
            schedule.follow(&announced.path, tick_seconds);
        }
    }
}

/// Plans the commands of this tick, and announces them.
fn plan_commands(
    config: Res<BaseScheduleConfig>,
    (tick, fixed): (Res<CurrentTick>, Res<Time<Fixed>>),
    trips: Query<&RoundTrip>,
    mut mailbox: ResMut<BaseScheduleMailbox>,
    mut bases: Query<&mut MovementBase>,
    mut number: Local<u32>,
) {
    if mailbox.follows_server {
        return;
    }
    let (now, tick_seconds) = (tick.0, fixed.timestep().as_secs_f64());
    let mut start: Option<Tick> = None;
    for mut base in &mut bases {
        let BaseTrack::Scheduled(schedule) = &base.track else { continue };
        let start = *start.get_or_insert_with(|| now.offset(lead_ticks(*config, &trips, tick_seconds)));
        if schedule.needs_planning(start, tick_seconds)
            && let BaseTrack::Scheduled(schedule) = &mut base.track
        {
            *number += 1;
            schedule.plan(*number, (now, start), tick_seconds);
        }
        let BaseTrack::Scheduled(schedule) = &base.track else { continue };
        let age = schedule.announced.map(|announced| now.since(announced));
        if age.is_some_and(|age| ANNOUNCED_AFTER.contains(&age)) {
            let message = BaseAnnouncement::encoded(base.id, schedule.number, &schedule.path);
            mailbox.publish(base.id.0, message);
        }
    }
}

/// Returns the ticks from a command to the start of the motion.
///
/// A client's count of ticks is behind the server's by the time that a message takes to it, so a message without a
/// delay would reach it in time with no lead at all. The lead is for links that have become slower since the client
/// joined, by up to as much again, for jitter, and for lost messages.
fn lead_ticks(config: BaseScheduleConfig, trips: &Query<&RoundTrip>, tick_seconds: f64) -> i32 {
    let Some(slowest) = trips.iter().map(|trip| trip.rtt / 2 + trip.jitter * 4).max() else { return 0 };
    let repeats = ANNOUNCED_AFTER.into_iter().max().unwrap_or(0);
    let wanted = (slowest.as_secs_f64() / tick_seconds).ceil() as i32;
    let most = (config.max_lead.as_secs_f64() / tick_seconds) as i32;
    wanted.saturating_add(repeats + 1).min(most)
}

/// Returns the bases of a new match to where they were before the first command. Clients follow the announcement.
fn return_home(_: On<MatchReset>, mailbox: Res<BaseScheduleMailbox>, mut bases: Query<&mut MovementBase>) {
    if mailbox.follows_server {
        return;
    }
    for mut base in &mut bases {
        let was_commanded = matches!(&base.track, BaseTrack::Scheduled(schedule) if schedule.was_commanded());
        if was_commanded && let BaseTrack::Scheduled(schedule) = &mut base.track {
            schedule.reset();
        }
    }
}
