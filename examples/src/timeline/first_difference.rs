//! First field in which two states differ, by their debug output: states need no reflection for it.

use core::fmt::Debug;

/// Numbers that are closer count as equal: states are rounded on the wire.
const TOLERANCE: f64 = 2e-3;

/// Returns the path of the first field in which two values differ, with both values, such as
/// `body.velocity.1: 4.0, server 3.2`. `None` if there is none.
pub fn first_difference(client: &impl Debug, server: &impl Debug) -> Option<String> {
    let (client, server) = (format!("{client:#?}"), format!("{server:#?}"));
    // Names or indices of the values around a line, and how many lines came before at each depth.
    let mut path: Vec<String> = Vec::new();
    let mut counts: Vec<usize> = Vec::new();
    for (one, other) in client.lines().zip(server.lines()) {
        let depth = (one.len() - one.trim_start().len()) / 4;
        let (line, other) = (one.trim().trim_end_matches(','), other.trim().trim_end_matches(','));
        path.truncate(depth);
        counts.resize(depth + 1, 0);
        let (name, value) = match line.split_once(": ") {
            Some((name, value)) => (name.to_owned(), value),
            None => (counts[depth].to_string(), line),
        };
        counts[depth] += 1;
        path.push(name);
        let other = other.split_once(": ").map_or(other, |(_, value)| value);
        if value == other || are_close(value, other) {
            continue;
        }
        // The outermost value has no name.
        return Some(format!("{}: {value}, server {other}", path.get(1..).unwrap_or(&path).join(".")));
    }
    None
}

fn are_close(one: &str, other: &str) -> bool {
    let number = |text: &str| text.parse::<f64>().ok();
    number(one).zip(number(other)).is_some_and(|(one, other)| (one - other).abs() <= TOLERANCE)
}

#[cfg(test)]
mod tests {
    use bevy::math::Vec3;

    use super::*;

    #[expect(dead_code, reason = "its fields are only printed")]
    #[derive(Debug, Clone, Copy)]
    struct Body {
        place: Vec3,
        mode: Option<u8>,
    }

    #[expect(dead_code, reason = "its fields are only printed")]
    #[derive(Debug, Clone, Copy)]
    struct State {
        body: Body,
        ammo: u8,
    }

    #[test]
    fn first_field_that_differs_is_named_with_both_values() {
        let state = State { body: Body { place: Vec3::new(1.0, 2.0, 3.0), mode: None }, ammo: 5 };
        assert_eq!(first_difference(&state, &state), None);
        let close = State { body: Body { place: Vec3::new(1.0, 2.001, 3.0), ..state.body }, ..state };
        assert_eq!(first_difference(&state, &close), None);
        let moved = State { body: Body { place: Vec3::new(1.0, 2.5, 9.0), ..state.body }, ammo: 1 };
        assert_eq!(first_difference(&state, &moved).as_deref(), Some("body.place.1: 2.0, server 2.5"));
        assert_eq!(
            first_difference(&state, &State { ammo: 4, ..state }).as_deref(),
            Some("ammo: 5, server 4")
        );
        let other = State { body: Body { mode: Some(1), ..state.body }, ..state };
        assert_eq!(first_difference(&state, &other).as_deref(), Some("body.mode: None, server Some("));
    }
}
