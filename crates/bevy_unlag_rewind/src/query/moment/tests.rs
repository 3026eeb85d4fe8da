use core::time::Duration;

use bevy::prelude::*;
use bevy_unlag_core::{NetId, PathKnotConfig, ProxySmoothing, Snapshot};

use super::*;
use crate::{history::FrameHistory, limits::HighPing};
use bevy_unlag_smoothing::PublishedPath;

/// Longer than two windows of update intervals, so that earlier rates are forgotten.
const LONG: u32 = 600;
const TICK: f32 = 1.0 / 64.0;
const ID: NetId = NetId(7);
const EVERYBODY: [(NetId, u32); 4] = [(ID, 3), (NetId(8), 3), (NetId(9), 3), (NetId(10), 3)];

/// Pawns, and one client that is sent each of them at its own interval in ticks.
struct Server {
    now: Tick,
    pawns: Vec<(NetId, u32, PublishedPath)>,
    log: SentSnapshots,
}

impl Server {
    fn new(pawns: &[(NetId, u32)]) -> Self {
        let pawns = pawns.iter().map(|(id, every)| (*id, *every, PublishedPath::default())).collect();
        Self { now: Tick(u32::MAX - 300), pawns, log: SentSnapshots::default() }
    }

    fn run(mut self, ticks: u32) -> Self {
        for _ in 0..ticks {
            self.now = self.now.offset(1);
            for (id, every, history) in &mut self.pawns {
                let place = Vec3::X * self.now.0.wrapping_add(1 << 20) as u16 as f32 / 64.0;
                history.record(self.now, Snapshot::new(self.now, place, Vec3::X), Vec3::X, TICK);
                if self.now.0.is_multiple_of(*every) {
                    let update =
                        history.next_update(&PathKnotConfig::default(), &PoseSampler::default(), None);
                    let ticks =
                        update.iter().flat_map(|update| update.iter().map(|s| s.tick)).collect::<Vec<_>>();
                    self.log.mark_update(*id, ticks.into_iter(), self.now);
                }
            }
        }
        self
    }

    /// Hides another pawn from this client, so that its record is never complete.
    fn hiding(mut self) -> Self {
        self.log.mark_hidden(self.now);
        self
    }

    /// Returns the shift in ticks at which this pawn is posed, for a shot with a view `age` ticks ago
    /// that claims the given `shift`.
    fn shifted(
        &self,
        age: f64,
        shift: f64,
        limits: &RewindLimits,
        mode: Option<&ProxySmoothing>,
    ) -> Option<f64> {
        let time = ViewTime::after(self.now, -age);
        let shift = (shift * SUB_TICKS as f64) as i16;
        let (_, _, history) = &self.pawns[0];
        let sampler = PoseSampler::default().of(mode);
        let own = time.later(i64::from(shift));
        let (from, to) = match self.log.stamp(ID, &history.sent, own)? {
            ViewStamp::Interpolated { from, to, .. } if !sampler_steps(&sampler) => (from, Some(to)),
            ViewStamp::Interpolated { from, .. } | ViewStamp::Extrapolated { from, .. } => (from, None),
            ViewStamp::Present => return None,
        };
        let overrides = [StampOverride { target: ID, from, to, shift }];
        let round_trip = Some(Duration::from_millis(150));
        let view =
            QueryView { overrides: &overrides, sent: Some(&self.log), round_trip, ..QueryView::from(time) };
        let moment = Moment::from_view(&view, limits, self.now, TICK).expect("recent enough");
        let frames = FrameHistory::default();
        let target = Target { id: ID, path: history, history: &frames, mode };
        let (_, rewound_time) = moment.pose(&target, &PoseSampler::default(), &BaseView::default()).ok()?;
        Some(rewound_time?.since(time) as f64 / SUB_TICKS as f64)
    }

    fn seen(&self, age: f64, shift: f64) -> Option<f64> {
        self.shifted(age, shift, &RewindLimits::default(), None)
    }
}

fn sampler_steps(sampler: &PoseSampler) -> bool {
    sampler.interpolation == Interpolation::Step
}

#[test]
fn usual_rate_pawn_may_be_shifted_by_a_clock_change_only() {
    for server in [Server::new(&EVERYBODY).run(LONG), Server::new(&EVERYBODY).run(LONG).hiding()] {
        for shift in [-3.5, -1.0, 0.0, 1.0, 3.5] {
            assert_eq!(server.seen(9.0, shift), Some(shift));
        }
        for shift in [-20.0, -6.0, -4.5, 4.5, 8.0] {
            assert_eq!(server.seen(9.0, shift), None, "{shift}");
        }
    }
}

#[test]
fn slow_pawns_may_be_shifted_back_and_fast_ones_ahead() {
    let with = |every: u32| {
        let mut pawns = EVERYBODY;
        pawns[0].1 = every;
        Server::new(&pawns).run(LONG)
    };
    let slow = with(6);
    assert_eq!((slow.seen(9.0, -9.0), slow.seen(9.0, -14.0)), (Some(-9.0), None));
    let fast = with(1);
    assert_eq!((fast.seen(12.0, 6.0), fast.seen(14.0, 11.0)), (Some(6.0), None));
}

#[test]
fn new_slow_pawn_is_posed_where_the_client_drew_it() {
    // The client changes over to a clock for an interval of 13 ticks with the second update.
    for updates in 2..8 {
        let mut server = Server::new(&EVERYBODY).run(LONG);
        server.pawns[0] = (ID, 13, PublishedPath::default());
        server.log.keep(server.now.offset(1_000), |id| id != ID);
        let first = 13 - server.now.0 % 13;
        let server = server.run(first + 13 * (updates - 1));
        assert_eq!(server.seen(3.0, -10.0), Some(-10.0), "{updates} updates");
    }
}

#[test]
fn shifted_view_times_stay_within_the_rewind_limits() {
    let mut pawns = EVERYBODY;
    pawns[0].1 = 13;
    let server = Server::new(&pawns).run(LONG);
    let limits = RewindLimits { max_age: Duration::from_millis(250), ..default() };
    // 16 ticks are accepted.
    assert_eq!(server.shifted(9.0, -20.0, &limits, None), Some(-7.0));
    let ms = Duration::from_millis;
    let high_ping = HighPing { fade_from: ms(100), stop_at: ms(200) };
    let fading = RewindLimits { high_ping: Some(high_ping), ..limits };
    // Half of the age is accepted: the view is 4.5 ticks old and the target 8.
    assert_eq!(server.shifted(9.0, -20.0, &fading, None), Some(1.0));
}

#[test]
fn only_pawns_without_playout_may_be_drawn_ahead_of_others() {
    let server = Server::new(&EVERYBODY).run(LONG);
    let newest = f64::from(server.log.newest(ID).map_or(0, |newest| server.now.since(newest)));
    for (mode, ahead) in [(ProxySmoothing::Raw, 9.0 - newest), (ProxySmoothing::Simulate, 8.75)] {
        let limits = RewindLimits::default();
        assert_eq!(server.shifted(9.0, ahead, &limits, Some(&mode)), Some(ahead), "{mode:?}");
        assert_eq!(server.shifted(9.0, -8.0, &limits, Some(&mode)), None, "{mode:?}");
        assert_eq!(server.seen(9.0, ahead), None);
    }
}
