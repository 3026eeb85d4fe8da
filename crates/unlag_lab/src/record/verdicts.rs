//! Verdicts of the live server, against those that a reader comes to from its recording alone.

use bevy_unlag::{
    net::shot_detail,
    record::{
        Entry, PlayerNumber, Publication, Recipients, RecordedPawn, RecordedShot, Roster, RosterChange,
        ShotOutcome,
    },
    weapons::{RecordedRound, ShotReplay, ShotResult},
};
use unlag_examples::app;

use super::played::Played;
use crate::prelude::*;

/// Server without a network that has the pawns of a recording, tick by tick.
struct ReplayServer {
    app: App,
    pawns: HashMap<NetId, Entity>,
    /// Updates that each player was sent.
    sent: HashMap<PlayerNumber, SentSnapshots>,
    roster: Roster,
    tick_seconds: f32,
}

/// Counts of compared verdicts.
#[derive(Default)]
struct Compared {
    shots: u64,
    hits: u64,
    refused: u64,
    differing: u64,
    control: u64,
}

pub fn measure(played: &Played, figures: &mut Figures) -> Result<(), String> {
    let mut recording = played.open()?;
    let mut server = ReplayServer::new(recording.setup().sampler.0.tick_seconds);
    let mut compared = Compared::default();
    for index in 0..recording.segments().len() {
        let segment = recording.segment(index).map_err(|error| error.to_string())?;
        if index == 0 {
            server.start(&segment.roster);
        }
        for tick in &segment.ticks {
            server.begin_tick(tick.tick);
            for entry in &tick.entries {
                match entry {
                    Entry::Roster(change) => server.change_roster(change),
                    Entry::Publication(publication) => server.publish(tick.tick, publication),
                    Entry::Hidden(notice) => {
                        if let Some(sent) = server.sent.get_mut(&notice.player) {
                            notice.pawns.iter().for_each(|pawn| sent.mark_gone(*pawn, notice.since));
                        }
                    }
                    // Those of the first second draw from snapshots that were sent before.
                    Entry::Shot(shot) if index > 0 => server.compare(shot, &mut compared),
                    _ => {}
                }
            }
        }
    }
    let Compared { shots, hits, refused, differing, control } = compared;
    let note = format!("of {shots} verdicts, {hits} of them hits; {refused} shots were refused");
    figures.add_noted("replay_differing_verdicts", differing as f64, note)?;
    // Resolved 100 ms later.
    figures.add("control_replay_differing_verdicts_later", control as f64)
}

impl ReplayServer {
    fn new(tick_seconds: f32) -> Self {
        let mut app = app::server(ServerOptions::default());
        app.insert_resource(TimeUpdateStrategy::ManualDuration(TICK));
        finish(&mut app);
        // Physics takes the level in.
        (0..8).for_each(|_| app.update());
        Self { app, pawns: HashMap::new(), sent: HashMap::new(), roster: Roster::default(), tick_seconds }
    }

    fn start(&mut self, roster: &Roster) {
        for pawn in roster.pawns() {
            self.change_roster(&RosterChange::Pawn(*pawn));
        }
        for player in roster.players() {
            self.change_roster(&RosterChange::Player(player.clone()));
        }
    }

    fn change_roster(&mut self, change: &RosterChange) {
        self.roster.apply(change);
        match change {
            RosterChange::Pawn(RecordedPawn { id, team, smoothing, .. }) => {
                let world = self.app.world_mut();
                let pawn = *self.pawns.entry(*id).or_insert_with(|| {
                    let body = (SoldierBody, PublishedPath::default(), FrameHistory::default());
                    world.spawn((*id, body, SentSnapshots::default())).id()
                });
                let mut pawn = world.entity_mut(pawn);
                if let Some(team) = team {
                    pawn.insert(Team(*team));
                }
                if let Some(smoothing) = smoothing {
                    pawn.insert(*smoothing);
                }
            }
            RosterChange::PawnGone(id) => {
                if let Some(pawn) = self.pawns.remove(id) {
                    self.app.world_mut().despawn(pawn);
                }
            }
            RosterChange::Player(player) => {
                self.sent.entry(player.number).or_default();
            }
            RosterChange::PlayerLeft(number) => {
                self.sent.remove(number);
            }
        }
    }

    /// Goes on to a tick, up to the moment at which its shots are resolved.
    fn begin_tick(&mut self, tick: Tick) {
        let world = self.app.world_mut();
        world.insert_resource(CurrentTick(tick));
        for pawn in self.pawns.values() {
            if let Some(mut path) = world.get_mut::<PublishedPath>(*pawn)
                && let Some(newest) = path.sent.newest().copied()
            {
                let now = Snapshot { tick, ..newest };
                path.record(tick, now, newest.velocity(), self.tick_seconds);
            }
        }
        world.run_schedule(FixedPostUpdate);
    }

    fn publish(&mut self, tick: Tick, publication: &Publication) {
        let world = self.app.world_mut();
        for (id, update) in &publication.updates {
            if let Some(mut path) = self.pawns.get(id).and_then(|pawn| world.get_mut::<PublishedPath>(*pawn))
            {
                path.store(update);
            }
        }
        for (player, recipients) in &publication.recipients {
            let sent = self.sent.entry(*player).or_default();
            for (id, update) in publication.sent_to(*player) {
                sent.mark_update(*id, update.iter().map(|snapshot| snapshot.tick), tick);
            }
            match recipients {
                Recipients::AllButOwn(_) => {}
                Recipients::Some { over_budget: true, .. } => sent.mark_over_budget(tick),
                Recipients::Some { .. } => sent.mark_hidden(tick),
            }
            if sent.len() > self.roster.pawns().len() {
                sent.keep(tick, |id| self.roster.pawn(id).is_some());
            }
            let own = self.roster.player(*player).and_then(|player| player.pawn);
            let own = own.and_then(|own| self.pawns.get(&own));
            if let Some(mut log) = own.and_then(|own| world.get_mut::<SentSnapshots>(*own)) {
                log.clone_from(sent);
            }
        }
    }

    fn compare(&mut self, shot: &RecordedShot, compared: &mut Compared) {
        if let ShotOutcome::Refused(_) = shot.outcome {
            compared.refused += 1;
            return;
        }
        let Some(shooter) = self.pawns.get(&shot.shooter).copied() else { return };
        let Ok(detail) = shot_detail(shot) else {
            compared.differing += 1;
            return;
        };
        let round =
            RecordedRound { shooter, shot: shot.shot, weapon: WeaponId(shot.weapon), eye: shot.eye, detail };
        let mut later = round.clone();
        if let Some(view) = &mut later.detail.view {
            view.time = view.time.later(6 * SUB_TICKS);
            view.overrides.clear();
        }
        let world = self.app.world_mut();
        let resolved = world.run_system_cached_with(resolve, vec![round, later]).unwrap_or_default();
        let is_same = |result: &Option<ShotResult>| match result {
            Some(ShotResult::Miss) => shot.outcome == ShotOutcome::Miss,
            Some(ShotResult::Launched) => shot.outcome == ShotOutcome::Launched,
            Some(ShotResult::Hit(list)) => {
                let recorded = shot.outcome.hits();
                list.iter().len() == recorded.len()
                    && list.iter().zip(recorded).all(|(a, b)| {
                        (a.target, a.head, a.body, a.limb) == (b.target, b.head, b.body, b.limb)
                    })
            }
            _ => false,
        };
        compared.shots += 1;
        compared.hits += u64::from(!shot.outcome.hits().is_empty());
        compared.differing += u64::from(!resolved.first().is_some_and(is_same));
        compared.control += u64::from(!resolved.last().is_some_and(is_same));
    }
}

fn resolve(In(rounds): In<Vec<RecordedRound>>, mut replay: ShotReplay) -> Vec<Option<ShotResult>> {
    rounds.iter().map(|round| replay.resolve(round)).collect()
}
