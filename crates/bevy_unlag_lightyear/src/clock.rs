//! Clock synchronisation: the ping and pong messages that feed
//! [`ServerClock`](bevy_unlag_smoothing::ServerClock).

mod client;
mod server;

use bevy::{ecs::system::SystemParam, prelude::*, time::TimeUpdateStrategy};
use bevy_unlag_core::{
    BitReader, BitWriter, CurrentTick, GameClock, SUB_TICKS, Stall, Tick, ViewTime, Wire, WireError,
};

pub(crate) use client::plugin as client_plugin;
pub(crate) use server::plugin as server_plugin;

/// Clock synchronisation request of a client.
#[derive(Wire, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ClockPing {
    /// Id of the request, repeated in the reply.
    pub id: u16,
}

/// Reply of the server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ClockPong {
    /// Id of the request.
    pub id: u16,
    /// Server time when the request arrived.
    pub received: ViewTime,
    /// Time between request and reply on the server, in 1/256 ticks.
    pub held: u16,
}

impl Wire for ClockPong {
    fn write(&self, w: &mut BitWriter) {
        w.bits(u32::from(self.id), 16);
        self.received.write(w);
        w.golomb(self.held, 4);
    }

    fn read(r: &mut BitReader<'_>) -> Result<Self, WireError> {
        Ok(Self { id: r.bits(16)? as u16, received: ViewTime::read(r)?, held: r.golomb(4)? })
    }
}

impl ClockPong {
    /// Creates a reply; `received` and `answered` are in ticks.
    fn new(id: u16, received: f64, answered: f64) -> Self {
        let held = ((answered - received) * SUB_TICKS as f64).round();
        // NaN and negative values cast to 0.
        Self { id, received: ViewTime::after(Tick(0), received), held: held as u16 }
    }

    /// Returns when the request arrived and when the reply was sent, in seconds since tick 0.
    fn seconds(&self, tick_seconds: f64) -> (f64, f64) {
        let sub_tick = tick_seconds / SUB_TICKS as f64;
        let received =
            f64::from(self.received.tick.0) * tick_seconds + f64::from(self.received.fraction) * sub_tick;
        (received, received + f64::from(self.held) * sub_tick)
    }
}

/// Time with a resolution finer than a frame.
#[derive(SystemParam)]
struct FrameTime<'w> {
    real: Res<'w, Time<Real>>,
    game: Res<'w, GameClock>,
    strategy: Option<Res<'w, TimeUpdateStrategy>>,
}

impl FrameTime<'_> {
    /// Returns the seconds of real time since this frame began; 0 in an app with stepped time, which does not
    /// follow the wall clock.
    fn since_frame(&self) -> f64 {
        let lives = self.strategy.as_deref().is_none_or(|s| matches!(s, TimeUpdateStrategy::Automatic));
        let began = self.real.last_update().filter(|_| lives);
        began.map_or(0.0, |began| began.elapsed().as_secs_f64())
    }

    /// Returns the current time in seconds, on the unsteered time line of [`GameClock`].
    fn now(&self) -> f64 {
        self.game.unsteered_seconds(&self.real) + self.since_frame() * self.game.speed()
    }
}

/// The server's time line in ticks; a whole number is the end of a tick.
#[derive(SystemParam)]
struct TickTime<'w> {
    frame: FrameTime<'w>,
    tick: Res<'w, CurrentTick>,
    fixed: Res<'w, Time<Fixed>>,
    game: Res<'w, Time<Virtual>>,
    stall: Res<'w, Stall>,
}

impl TickTime<'_> {
    /// Returns the time before this frame's fixed steps have run: their time is still to be simulated.
    fn before_steps(&self) -> f64 {
        self.at(self.game.delta().as_secs_f64())
    }

    /// Returns the time after this frame's fixed steps have run.
    fn after_steps(&self) -> f64 {
        self.at(0.0)
    }

    fn at(&self, waiting: f64) -> f64 {
        let speed = if self.game.is_paused() { 0.0 } else { self.game.effective_speed_f64() };
        let rest = self.fixed.overstep() + self.stall.lost_time();
        let seconds = rest.as_secs_f64() + waiting + self.frame.since_frame() * speed;
        f64::from(self.tick.0.0) + seconds / self.fixed.timestep().as_secs_f64()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clock_pong_survives_a_round_trip_in_nine_bytes() {
        let pong = ClockPong::new(0xBEEF, 4_000_000_000.25, 4_000_000_000.75);
        let mut w = BitWriter::default();
        pong.write(&mut w);
        let bytes = w.finish();
        assert!(bytes.len() <= 9, "{} bytes", bytes.len());
        assert_eq!(ClockPong::read(&mut BitReader::new(&bytes)), Ok(pong));
        let (received, answered) = pong.seconds(1.0 / 64.0);
        assert!((received - 4_000_000_000.25 / 64.0).abs() < 1e-6, "{received}");
        assert!((answered - received - 0.5 / 64.0).abs() < 1e-6, "{answered}");
        for cut in 0..bytes.len() - 1 {
            assert!(ClockPong::read(&mut BitReader::new(&bytes[..cut])).is_err());
        }
    }

    #[test]
    fn hold_time_is_clamped_if_the_clock_jumps_while_replying() {
        assert_eq!(ClockPong::new(1, 7.0, 6.0).held, 0);
        assert_eq!(ClockPong::new(1, 7.0, f64::NAN).held, 0);
        assert_eq!(ClockPong::new(1, 7.0, 1e9).held, u16::MAX);
    }
}
