//! First row: steps, stairs, slopes and low ceilings.

use crate::{
    expectation::Expectation::{
        Above, Below, Beyond, Crouches, Grounded, NeverAirborne, NoPeak, Peak, Short, Stands,
    },
    script::{FORWARD, IDLE, Keys, go, go_with, hold},
};

use super::{
    Kind, Prop, Station,
    prop::{deck, ramp},
};

/// Returns the stations.
pub(super) fn row() -> Vec<Station> {
    vec![
        step("step 0.20 m: yes", 0.20, true),
        step("step 0.44 m: yes", 0.44, true),
        step("step 0.46 m: no", 0.46, false),
        stairs(),
        slope("slope 30: yes", 30.0, true),
        slope("slope 44: yes", 44.0, true),
        slope("slope 46: no", 46.0, false),
        slope("slope 60: no", 60.0, false),
        crawl(),
        ceiling(),
    ]
}

fn step(name: &'static str, height: f32, climbs: bool) -> Station {
    let expectations = if climbs {
        vec![Above(height - 0.02), Beyond(-4.0), NeverAirborne]
    } else {
        vec![Below(0.05), Short(-2.3)]
    };
    Station::new(name, 3.4)
        .label(height + 1.2, -2.5)
        .props([Prop::slab(Kind::Step, [-1.3, 0.0, -6.5], [1.3, height, -2.5])])
        .script([go(0.0, -4.6, 2.0)])
        .expectations(expectations)
}

/// The pawn walks up and down without leaving the floor.
fn stairs() -> Station {
    const STEPS: u8 = 8;
    let (rise, run) = (0.25, 0.3);
    let flights = (0..STEPS).map(|i| {
        let (near, top) = (-2.0 - run * f32::from(i), rise * f32::from(i + 1));
        // One box per level, from the ascending to the descending side.
        Prop::slab(Kind::Step, [-1.3, 0.0, -10.0 - near], [1.3, top, near])
    });
    Station::new("stairs 0.25 x 0.30", 3.8)
        .label(3.2, -2.5)
        .props(flights)
        .script([go(0.0, -9.2, 4.0)])
        .expectations([Beyond(-8.6), Peak(1.95), Below(0.05), NeverAirborne])
}

fn slope(name: &'static str, degrees: f32, climbs: bool) -> Station {
    const RISE: f32 = 2.0;
    let top = -2.0 - RISE / degrees.to_radians().tan();
    let expectations = if climbs { vec![Above(RISE - 0.05), Beyond(top)] } else { vec![NoPeak(0.5)] };
    Station::new(name, 3.4)
        .label(1.9, -2.2)
        .props([ramp(degrees, 1.2, -2.0, RISE), deck(1.2, top, top - 1.8, RISE)])
        .script([go(0.0, top - 0.8, 2.5)])
        .expectations(expectations)
}

/// A passage one metre high, passable only when crouched.
fn crawl() -> Station {
    Station::new("crawl 1 m: crouch", 3.8)
        .label(2.2, -3.0)
        .props([
            Prop::slab(Kind::Wall, [-1.3, 1.0, -6.0], [1.3, 1.4, -3.0]),
            Prop::slab(Kind::Wall, [-1.3, 0.0, -6.0], [-1.0, 1.0, -3.0]),
            Prop::slab(Kind::Wall, [1.0, 0.0, -6.0], [1.3, 1.0, -3.0]),
        ])
        .script([hold(0.9, FORWARD), go_with(0.0, -7.4, 3.5, Keys { crouch: true, ..IDLE }), hold(0.4, IDLE)])
        .expectations([Beyond(-7.0), Crouches, Stands])
}

/// A ceiling two metres high, which ends a jump.
fn ceiling() -> Station {
    Station::new("ceiling 2 m: bump", 3.6)
        .label(3.0, -3.0)
        .props([
            Prop::slab(Kind::Wall, [-1.3, 2.0, -6.0], [1.3, 2.3, -3.0]),
            Prop::slab(Kind::Wall, [-1.3, 0.0, -6.0], [-1.1, 2.0, -3.0]),
            Prop::slab(Kind::Wall, [1.1, 0.0, -6.0], [1.3, 2.0, -3.0]),
        ])
        .script([go(0.0, -4.5, 1.5), hold(0.2, Keys { jump: true, ..IDLE }), hold(0.8, IDLE)])
        .expectations([Peak(0.15), NoPeak(0.26), Beyond(-4.0), Grounded])
}
