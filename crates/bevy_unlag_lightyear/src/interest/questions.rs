//! Questions to the level: whether a player can see a pawn now or soon.

use bevy::{math::Vec3A, platform::time::Instant, prelude::*};
use bevy_unlag_core::{SimulationRate, Tick};

use super::{
    InterestStats,
    config::InterestConfig,
    pairs::{Pair, SightPairs, State},
    places::{Place, Places},
    reach,
    shaft::{self, Fan, Sight},
    walls::{Effort, Level, TestedLevel, Walls},
};
use crate::hidden_pawns::HiddenPawns;

/// Maximum number of turns between two tests whether a pawn that is out of sight, but not for long, stays so for
/// longer. The number is one at first, and doubles each time that the test says no.
const PATIENCE: u8 = 4;

/// Pair whose line of sight is tested in this tick.
#[derive(Clone, Copy, Debug)]
pub(super) struct Question {
    pub link: Entity,
    /// Slots of the client's own pawn and of the other one.
    pub viewer: usize,
    pub target: usize,
    pub urgency: f32,
}

/// Questions of a tick.
#[derive(Resource, Default)]
pub(super) struct Questions(pub Vec<Question>);

/// Times that a test takes into account.
#[derive(Clone, Copy, Debug)]
struct Times {
    now: Tick,
    tick_seconds: f32,
    interval: u32,
    snapshot_ticks: u32,
}

/// Answers the questions, as many as the effort of a tick allows, and conceals and shows the pawns.
pub(super) fn answer_questions(
    (rate, config): (Res<SimulationRate>, Res<InterestConfig>),
    (places, level): (Res<Places>, Res<TestedLevel>),
    mut walls: ResMut<Walls>,
    mut effort: ResMut<Effort>,
    mut links: Query<(&mut SightPairs, &mut HiddenPawns)>,
    mut questions: ResMut<Questions>,
    mut stats: ResMut<InterestStats>,
) {
    if !places.is_due {
        return;
    }
    #[expect(clippy::disallowed_methods, reason = "not std's in browsers")]
    let began = Instant::now();
    let lacked_effort = stats.unanswered > 0;
    (stats.tested, stats.unanswered) = (questions.0.len() as u32, 0);
    if lacked_effort {
        questions.0.sort_unstable_by(|a, b| b.urgency.total_cmp(&a.urgency));
    }
    let times = Times {
        now: places.now,
        tick_seconds: rate.tick_seconds(),
        interval: config.interval_ticks.max(1),
        snapshot_ticks: rate.snapshot_ticks.max(1),
    };
    for question in &questions.0 {
        let Ok((mut sight, mut hidden)) = links.get_mut(question.link) else { continue };
        let (Some(viewer), Some(target), Some(pair)) = (
            places.get(question.viewer),
            places.get(question.target),
            sight.bypass_change_detection().pairs.get_mut(question.target),
        ) else {
            continue;
        };
        let ahead = places.ticks_ahead(question.viewer, times.interval, target.update_ticks);
        let answer =
            answer((viewer, target), pair, ahead, (&config, &times), (&*level, &mut walls, &mut effort));
        stats.unanswered += u32::from(answer == Sight::Unknown);
        let hidden = hidden.bypass_change_detection();
        if answer == Sight::Blocked {
            hidden.hide(target.entity);
        } else {
            hidden.show(target.entity);
        }
    }
    stats.rays += effort.rays;
    stats.time += began.elapsed();
}

/// Returns whether a pawn is in sight, and notes until when that stands.
fn answer(
    (viewer, target): (&Place, &Place),
    pair: &mut Pair,
    ahead: u32,
    (config, times): (&InterestConfig, &Times),
    (level, walls, effort): (&dyn Level, &mut Walls, &mut Effort),
) -> Sight {
    let spare = config.spare_ticks();
    // Clients draw pawns with rarer snapshots later. A pawn that is not covered is shown.
    let late = target.update_ticks.saturating_sub(times.snapshot_ticks);
    let is_placed = viewer.near.up != Vec3A::ZERO && target.root.is_finite();
    let board = |fan: &Fan, ahead: u32| {
        let past = (target.update_ticks - 1).saturating_sub(ahead);
        let [past, ahead] = [past, ahead].map(|ticks| ticks as f32 * times.tick_seconds);
        let ahead = ahead + config.margin_seconds.max(0.0);
        reach::board(config, &target.root, &target.body, fan.middle.low.into(), past, ahead)
    };
    let (patience, turns) = pair.patience;
    pair.patience.1 = turns.saturating_add(1);
    let asks_far = late == 0 && (pair.state == State::Far || pair.state == State::Close && turns >= patience);
    let (sight, state) = if late > spare || !is_placed {
        (Sight::Clear, State::Clear)
    } else if asks_far
        && shaft::is_blocked(
            (&viewer.far, &board(&viewer.far, ahead + spare)),
            &mut pair.memory,
            (level, walls, effort),
        )
    {
        pair.patience = (0, 0);
        (Sight::Blocked, State::Far)
    } else {
        if asks_far {
            pair.patience = ((patience * 2).clamp(1, PATIENCE), 0);
        }
        let fan = if late > 0 { &viewer.far } else { &viewer.near };
        let is_open = pair.state == State::Clear;
        match shaft::look((fan, &board(fan, ahead)), is_open, &mut pair.memory, (level, walls, effort)) {
            Sight::Blocked => (Sight::Blocked, State::Close),
            Sight::Clear => (Sight::Clear, State::Clear),
            // Asked in the same way next time: the cheapest one.
            Sight::Unknown => (Sight::Unknown, pair.state),
        }
    };
    pair.state = state;
    let stands = match (sight, state) {
        (Sight::Clear, _) => {
            (config.hold_seconds / times.tick_seconds.max(1e-4)).round().clamp(0.0, 1e4) as u32
        }
        (Sight::Blocked, State::Far) => times.interval + spare,
        (Sight::Unknown | Sight::Blocked, _) => 0,
    };
    pair.due = times.now.offset(stands as i32);
    pair.unanswered = if sight == Sight::Unknown { pair.unanswered.saturating_add(1) } else { 0 };
    sight
}

#[cfg(test)]
mod tests;
