//! 64 clients in one app that run and fire at each other while their packets are recorded.

use super::recorded_server::{self, PLAYERS, ROUND_TRIP, TestServer, TickMessages};
use crate::prelude::*;

/// Age of the shooter's view when its shot arrives, in milliseconds.
const VIEW: u32 = 110;

struct Clients {
    app: App,
    pawns: Vec<Entity>,
    rng: SmallRng,
    /// Index of the next player to fire.
    next: usize,
    hz: u32,
}

/// Records the packets of ticks with the given numbers of shots.
pub fn record(hz: u32, seed: u64, shots: &[usize]) -> Vec<TickMessages> {
    let mut server = TestServer::new(hz, seed);
    let mut clients = Clients::new(hz, seed);
    let mut all = Vec::new();
    for shots in shots {
        clients.steer(&server, *shots);
        let packets = clients.moves();
        server.tick(&packets);
        all.push(packets);
        clients.receive(&mut server);
    }
    all
}

impl Clients {
    fn new(hz: u32, seed: u64) -> Self {
        let mut app = recorded_server::app(hz);
        finish(&mut app);
        let pawns = (1..=PLAYERS)
            .map(|id| {
                let own = AutonomousPawn::<Soldier>::default();
                app.world_mut()
                    .spawn((NetId(id), NetRole::AutonomousProxy, SoldierState::default(), own))
                    .id()
            })
            .collect();
        Self { app, pawns, rng: SmallRng::seed_from_u64(!seed), next: 0, hz }
    }

    /// Converts milliseconds into ticks.
    fn ticks(&self, milliseconds: u32) -> i32 {
        (milliseconds * self.hz / 1_000).cast_signed()
    }

    /// Sets all inputs: every player strafes and aims at another one, and some of them fire.
    fn steer(&mut self, server: &TestServer, shots: usize) {
        let own = self.app.world().resource::<CurrentTick>().0.offset(1);
        let view = ViewTime { tick: own.offset(-self.ticks(VIEW)), fraction: 90 };
        let (count, there) = (self.pawns.len(), server.app.world());
        let bases = BasePoses::default();
        for index in 0..count {
            let history = there.get::<PublishedPath>(server.pawns[(index + 7) % count]);
            let seen = history.and_then(|history| {
                let sampler = there.resource::<PoseSampler>();
                history.sent.pose(history.sent.stamp(view)?, sampler, &bases.at(view))
            });
            let world = self.app.world_mut();
            let state = world.get::<SoldierState>(self.pawns[index]);
            let eye = state.map(|state| Soldier::eye(world.resource::<CapsuleConfig>(), state));
            let Some(mut input) = world.get_mut::<MoveInput<Soldier>>(self.pawns[index]) else { continue };
            input.0.extension = default();
            let Some((eye, seen)) = eye.zip(seen) else { continue };
            let eye = FireInput::rounded(eye);
            let aim = Aim::from_direction(seen.position + Vec3::Y * self.rng.random_range(0.3..1.8) - eye);
            (input.0.body.yaw, input.0.body.pitch) = (aim.yaw, aim.pitch);
            if self.rng.random_bool(2.0 / f64::from(self.hz)) {
                let side = if self.rng.random_bool(0.5) { 1.0 } else { -1.0 };
                input.0.body.set_axes(Vec2::new(side, self.rng.random_range(-0.2..0.4)));
            }
            if (index + count - self.next) % count < shots {
                let fire = FireInput::new(&ShooterView::new(Some(view), eye), own).with_aim(aim, aim);
                (input.0.extension.fire, input.0.extension.trigger) = (Some(fire), true);
            }
        }
        self.next = (self.next + shots) % count;
    }

    /// Returns the packets of all clients in a tick.
    fn moves(&mut self) -> TickMessages {
        self.app.update();
        self.pawns.iter().map(|own| take_moves(&mut self.app, *own)).collect()
    }

    /// Delivers acknowledgements immediately; received snapshots are reported half a round trip late.
    fn receive(&mut self, server: &mut TestServer) {
        let now = server.app.world().resource::<CurrentTick>().0;
        let heard = now.offset(-self.ticks(ROUND_TRIP / 2));
        let heard = heard.offset(-((heard.0 % recorded_server::interval(self.hz)).cast_signed()));
        for (own, answers) in self.pawns.iter().zip(server.answers()) {
            deliver_acks(&mut self.app, *own, answers);
        }
        self.app.world_mut().resource_mut::<LastReceivedSnapshot>().0 = Some(heard);
    }
}
