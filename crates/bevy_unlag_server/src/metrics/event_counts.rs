//! Counts of what the app reports by events and messages: joins, kicks, shots.

use bevy::prelude::*;
use bevy_unlag_lightyear::{LeaveReason, PlayerJoined, PlayerLeft, PlayerReturned};
use bevy_unlag_weapons::{ShotRefusal, ShotResolved, ShotResult};
use lightyear_guard::{KickReason, Kicked};

use super::histogram::{Histogram, REWIND_BOUNDS};

/// Variants of [`KickReason`], in the order of [`kick_index`].
pub(super) const KICKS: [&str; 10] = [
    "InvalidPackets",
    "Flood",
    "Replaced",
    "Game",
    "Setup",
    "Shutdown",
    "QueueOverflow",
    "FastClock",
    "Operator",
    "Spectators",
];

/// Variants of [`ShotResult`], in the order of [`verdict_index`].
pub(super) const VERDICTS: [&str; 4] = ["hit", "miss", "refused", "launched"];

/// The counts since the server started.
#[derive(Resource, Clone, Debug)]
pub(super) struct EventCounts {
    pub joins: u64,
    pub returns: u64,
    pub leaves: [u64; LeaveReason::ALL.len()],
    pub kicks: [u64; KICKS.len()],
    pub shots: u64,
    pub verdicts: [u64; VERDICTS.len()],
    pub refused_shots: [u64; ShotRefusal::ALL.len()],
    pub clamped_shots: u64,
    pub rewind: Histogram,
}

impl Default for EventCounts {
    fn default() -> Self {
        Self {
            joins: 0,
            returns: 0,
            leaves: default(),
            kicks: default(),
            shots: 0,
            verdicts: default(),
            refused_shots: default(),
            clamped_shots: 0,
            rewind: Histogram::new(REWIND_BOUNDS),
        }
    }
}

impl EventCounts {
    fn count_shot(&mut self, shot: &ShotResolved) {
        let result = shot.verdict.result;
        self.verdicts[verdict_index(result)] += 1;
        if let ShotResult::Refused(why) = result {
            self.refused_shots[why as usize] += 1;
        }
        if let Some(age) = shot.rewind {
            self.rewind.observe(age);
        }
        if !shot.is_impact {
            self.shots += 1;
            self.clamped_shots += u64::from(shot.verdict.clamped);
        }
    }
}

fn kick_index(reason: KickReason) -> usize {
    match reason {
        KickReason::InvalidPackets => 0,
        KickReason::Flood => 1,
        KickReason::Replaced => 2,
        KickReason::Game(_) => 3,
        KickReason::Setup(_) => 4,
        KickReason::Shutdown => 5,
        KickReason::QueueOverflow => 6,
        KickReason::FastClock => 7,
        KickReason::Operator(_) => 8,
        KickReason::Spectators => 9,
    }
}

fn verdict_index(result: ShotResult) -> usize {
    match result {
        ShotResult::Hit(_) => 0,
        ShotResult::Miss => 1,
        ShotResult::Refused(_) => 2,
        ShotResult::Launched => 3,
    }
}

pub(super) fn plugin(app: &mut App) {
    app.init_resource::<EventCounts>()
        .add_message::<Kicked>()
        .add_message::<ShotResolved>()
        .add_observer(|_: On<PlayerJoined>, mut counts: ResMut<EventCounts>| counts.joins += 1)
        .add_observer(|_: On<PlayerReturned>, mut counts: ResMut<EventCounts>| counts.returns += 1)
        .add_observer(|left: On<PlayerLeft>, mut counts: ResMut<EventCounts>| {
            counts.leaves[left.reason as usize] += 1;
        })
        .add_systems(Last, count_messages);
}

fn count_messages(
    mut kicks: MessageReader<Kicked>,
    mut shots: MessageReader<ShotResolved>,
    mut counts: ResMut<EventCounts>,
) {
    for kicked in kicks.read() {
        counts.kicks[kick_index(kicked.reason)] += 1;
    }
    for shot in shots.read() {
        counts.count_shot(shot);
    }
}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use bevy_unlag_core::Tick;
    use bevy_unlag_weapons::ShotVerdict;
    use lightyear_guard::{KickText, SetupDifference};

    use super::*;

    #[test]
    fn each_kick_is_counted_under_the_name_of_its_reason() {
        for reason in [
            KickReason::InvalidPackets,
            KickReason::Flood,
            KickReason::Replaced,
            KickReason::Game(0),
            KickReason::Game(255),
            KickReason::Setup(SetupDifference::Level),
            KickReason::Shutdown,
            KickReason::QueueOverflow,
            KickReason::FastClock,
            KickReason::Spectators,
            KickReason::Operator(KickText::new("camping (again)")),
        ] {
            let name = format!("{reason:?}");
            assert_eq!(name.split('(').next(), Some(KICKS[kick_index(reason)]));
        }
    }

    #[test]
    fn projectile_is_one_shot_with_two_verdicts_and_one_rewind() {
        let mut counts = EventCounts::default();
        let rewind = Some(Duration::from_millis(120));
        let mut count = |result, is_impact, rewind| {
            let verdict = ShotVerdict { shot: Tick(7), clamped: true, result };
            let shooter = Entity::PLACEHOLDER;
            counts.count_shot(&ShotResolved { shooter, verdict, is_impact, rewind });
        };
        count(ShotResult::Launched, false, rewind);
        count(ShotResult::Miss, true, None);
        count(ShotResult::Hit(default()), false, rewind);
        count(ShotResult::Refused(ShotRefusal::Aim), false, None);
        assert_eq!((counts.shots, counts.clamped_shots, counts.rewind.count()), (3, 3, 2));
        assert_eq!(counts.verdicts, [1, 1, 1, 1]);
        assert_eq!(counts.refused_shots[ShotRefusal::Aim as usize], 1);
        assert_eq!(counts.refused_shots.iter().sum::<u64>(), 1);
    }
}
