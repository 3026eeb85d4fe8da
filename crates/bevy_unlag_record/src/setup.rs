//! Setup of a recorded match: what another build must share to show it.

use core::fmt;

use bevy_unlag_core::{BitReader, BitWriter, Interpolation, PoseSampler, Wire, WireError};

use crate::packing::{read_text, write_text};

/// Longest name in a setup, in bytes. Longer ones are cut. Names of characters are paths of generic types.
const MAX_NAME: usize = 512;
/// Most characters, and most weapons, in a setup.
const MAX_NAMES: usize = 256;

/// Setup of a recorded match. A reader compares it with its own, and refuses a file by the name of what differs.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct RecordSetup {
    /// Version of the suite's protocol.
    pub protocol: u32,
    /// Version of the game's protocol.
    pub game_protocol: u32,
    /// Hash of the game's registered messages and components.
    pub registry: u32,
    /// Duration of a tick in nanoseconds.
    pub tick_nanos: u32,
    /// Name and version of the game, for people.
    pub game: String,
    /// Name of the level, by which the game finds it again.
    pub level: String,
    /// Hash of the level; 0 for none.
    pub level_hash: u32,
    /// Movement models in the order of their registration.
    pub characters: Vec<String>,
    /// Hash of the characters' configuration; 0 for none.
    pub characters_hash: u32,
    /// Weapons in the order of their numbers.
    pub weapons: Vec<String>,
    /// Hash of the weapons' definitions; 0 for none.
    pub weapons_hash: u32,
    /// Settings by which screens turn snapshots into poses.
    pub sampler: RecordedSampler,
    /// Start of the recording, in seconds since 1970; 0 if unknown.
    pub started: u64,
}

/// Settings of the [`PoseSampler`] of a recorded match.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct RecordedSampler(pub PoseSampler);

/// Difference between a recorded setup and that of a reader.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RecordDifference {
    /// Version of the suite's protocol: the file's and the reader's.
    Protocol(u32, u32),
    /// Version of the game's protocol: the file's and the reader's.
    GameProtocol(u32, u32),
    /// Duration of a tick in nanoseconds: the file's and the reader's.
    TickRate(u32, u32),
    /// Characters: a name that only one of the two has, or has in another place.
    Characters(String),
    /// Configuration of the characters.
    CharacterConfig,
    /// Weapons: a name that only one of the two has, or has in another place.
    Weapons(String),
    /// Definitions of the weapons.
    WeaponDefinitions,
    /// Level: the file's and the reader's name.
    Level(String, String),
    /// Content of the level of this name.
    LevelContent(String),
    /// Registered messages and components.
    Registry,
}

impl fmt::Display for RecordDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Protocol(file, own) => {
                write!(f, "recorded with protocol {file} of the suite, and this build has protocol {own}")
            }
            Self::GameProtocol(file, own) => {
                write!(f, "recorded with protocol {file} of the game, and this build has protocol {own}")
            }
            Self::TickRate(file, own) => {
                let rate = |nanos: &u32| 1e9 / f64::from((*nanos).max(1));
                write!(
                    f,
                    "recorded with {:.1} ticks a second, and this build has {:.1}",
                    rate(file),
                    rate(own)
                )
            }
            Self::Characters(name) => write!(f, "recorded with other characters: {name:?} differs"),
            Self::CharacterConfig => f.write_str("recorded with another configuration of the characters"),
            Self::Weapons(name) => write!(f, "recorded with other weapons: {name:?} differs"),
            Self::WeaponDefinitions => f.write_str("recorded with other definitions of the weapons"),
            Self::Level(file, own) => write!(f, "recorded in the level {file:?}, and this is {own:?}"),
            Self::LevelContent(name) => write!(f, "recorded with other content of the level {name:?}"),
            Self::Registry => f.write_str("recorded with other messages or components"),
        }
    }
}

impl RecordSetup {
    /// Returns the first difference from the setup `own` of a reader that matters for showing the match; `None` if
    /// there is none. A hash of 0, an empty name and an empty list of the reader's are not compared.
    #[must_use]
    pub fn difference(&self, own: &Self) -> Option<RecordDifference> {
        use RecordDifference as Differs;

        let other = |file: u32, own: u32| own != 0 && file != own;
        if self.protocol != own.protocol {
            return Some(Differs::Protocol(self.protocol, own.protocol));
        }
        if self.game_protocol != own.game_protocol {
            return Some(Differs::GameProtocol(self.game_protocol, own.game_protocol));
        }
        if self.tick_nanos != own.tick_nanos {
            return Some(Differs::TickRate(self.tick_nanos, own.tick_nanos));
        }
        if let Some(name) = first_other_name(&self.characters, &own.characters) {
            return Some(Differs::Characters(name));
        }
        if let Some(name) = first_other_name(&self.weapons, &own.weapons) {
            return Some(Differs::Weapons(name));
        }
        if !own.level.is_empty() && self.level != own.level {
            return Some(Differs::Level(self.level.clone(), own.level.clone()));
        }
        [
            (self.level_hash, own.level_hash, Differs::LevelContent(self.level.clone())),
            (self.weapons_hash, own.weapons_hash, Differs::WeaponDefinitions),
            (self.characters_hash, own.characters_hash, Differs::CharacterConfig),
            (self.registry, own.registry, Differs::Registry),
        ]
        .into_iter()
        .find(|(file, own, _)| other(*file, *own))
        .map(|(.., difference)| difference)
    }
}

fn first_other_name(file: &[String], own: &[String]) -> Option<String> {
    if own.is_empty() {
        return None;
    }
    let longest = file.len().max(own.len());
    let cut = |name: &String| name[..name.floor_char_boundary(MAX_NAME)].to_owned();
    let differs = (0..longest).find(|at| file.get(*at).map(cut) != own.get(*at).map(cut))?;
    file.get(differs).or_else(|| own.get(differs)).cloned()
}

fn write_names(names: &[String], w: &mut BitWriter) {
    w.golomb(names.len().min(MAX_NAMES) as u16, 3);
    names.iter().take(MAX_NAMES).for_each(|name| write_text(name, MAX_NAME, w));
}

fn read_names(r: &mut BitReader<'_>) -> Result<Vec<String>, WireError> {
    let count = usize::from(r.golomb(3)?);
    if count > MAX_NAMES {
        return Err(WireError::Invalid);
    }
    (0..count).map(|_| read_text(MAX_NAME, r)).collect()
}

impl Wire for RecordSetup {
    fn write(&self, w: &mut BitWriter) {
        for number in [self.protocol, self.game_protocol, self.registry, self.tick_nanos] {
            number.write(w);
        }
        write_text(&self.game, MAX_NAME, w);
        write_text(&self.level, MAX_NAME, w);
        self.level_hash.write(w);
        write_names(&self.characters, w);
        self.characters_hash.write(w);
        write_names(&self.weapons, w);
        self.weapons_hash.write(w);
        self.sampler.write(w);
        self.started.write(w);
    }

    fn read(r: &mut BitReader<'_>) -> Result<Self, WireError> {
        Ok(Self {
            protocol: u32::read(r)?,
            game_protocol: u32::read(r)?,
            registry: u32::read(r)?,
            tick_nanos: u32::read(r)?,
            game: read_text(MAX_NAME, r)?,
            level: read_text(MAX_NAME, r)?,
            level_hash: u32::read(r)?,
            characters: read_names(r)?,
            characters_hash: u32::read(r)?,
            weapons: read_names(r)?,
            weapons_hash: u32::read(r)?,
            sampler: RecordedSampler::read(r)?,
            started: u64::read(r)?,
        })
    }
}

impl Wire for RecordedSampler {
    fn write(&self, w: &mut BitWriter) {
        let sampler = &self.0;
        w.bits(
            match sampler.interpolation {
                Interpolation::Step => 0,
                Interpolation::Linear => 1,
                Interpolation::Hermite => 2,
            },
            2,
        );
        w.bits(sampler.snapshot_ticks.clamp(0, 255).cast_unsigned(), 8);
        for value in
            [sampler.tick_seconds, sampler.max_extrapolation, sampler.max_simulation, sampler.gravity]
        {
            w.f32(value);
        }
    }

    fn read(r: &mut BitReader<'_>) -> Result<Self, WireError> {
        let interpolation = match r.bits(2)? {
            0 => Interpolation::Step,
            1 => Interpolation::Linear,
            2 => Interpolation::Hermite,
            _ => return Err(WireError::Invalid),
        };
        let snapshot_ticks = r.bits(8)?.cast_signed();
        let sampler = PoseSampler {
            interpolation,
            snapshot_ticks,
            tick_seconds: r.f32()?,
            max_extrapolation: r.f32()?,
            max_simulation: r.f32()?,
            gravity: r.f32()?,
        };
        // Poses are computed with these: no length of a tick is zero, and none of the rest overflows.
        let is_sound = (1e-4..=10.0).contains(&sampler.tick_seconds)
            && (0.0..=60.0).contains(&sampler.max_extrapolation)
            && (0.0..=60.0).contains(&sampler.max_simulation)
            && sampler.gravity.abs() <= 1e4;
        if is_sound { Ok(Self(sampler)) } else { Err(WireError::Invalid) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setup() -> RecordSetup {
        RecordSetup {
            protocol: 16,
            game_protocol: 3,
            registry: 77,
            tick_nanos: 15_625_000,
            game: "arena 1.2".to_owned(),
            level: "yard".to_owned(),
            level_hash: 5,
            characters: vec!["Soldier".to_owned(), "Kart".to_owned()],
            characters_hash: 6,
            weapons: vec!["rifle".to_owned()],
            weapons_hash: 7,
            sampler: RecordedSampler(PoseSampler { gravity: 20.0, ..PoseSampler::default() }),
            started: 1 << 40,
        }
    }

    #[test]
    fn setup_round_trips() {
        assert_eq!(RecordSetup::from_bytes(&setup().to_bytes()), Ok(setup()));
        let odd = RecordedSampler(PoseSampler { tick_seconds: 0.0, ..PoseSampler::default() });
        assert_eq!(RecordedSampler::from_bytes(&odd.to_bytes()), Err(WireError::Invalid));
    }

    #[test]
    fn difference_names_what_differs_and_ignores_what_the_reader_does_not_know() {
        let file = setup();
        let unknown =
            RecordSetup { protocol: 16, game_protocol: 3, tick_nanos: 15_625_000, ..RecordSetup::default() };
        assert_eq!(file.difference(&unknown), None);
        assert_eq!(file.difference(&file), None);
        let changed = |change: &dyn Fn(&mut RecordSetup)| {
            let mut own = setup();
            change(&mut own);
            file.difference(&own).map(|difference| difference.to_string()).unwrap_or_default()
        };
        let cases: [(&dyn Fn(&mut RecordSetup), &str); 10] = [
            (&|own| own.protocol = 17, "protocol 16 of the suite"),
            (&|own| own.game_protocol = 4, "protocol 4"),
            (&|own| own.tick_nanos = 33_333_333, "64.0 ticks a second, and this build has 30.0"),
            (&|own| own.characters[1] = "Boat".to_owned(), "\"Kart\" differs"),
            (&|own| own.weapons.push("laser".to_owned()), "\"laser\" differs"),
            (&|own| own.level = "hall".to_owned(), "level \"yard\", and this is \"hall\""),
            (&|own| own.level_hash = 9, "content of the level \"yard\""),
            (&|own| own.weapons_hash = 9, "definitions of the weapons"),
            (&|own| own.characters_hash = 9, "configuration of the characters"),
            (&|own| own.registry = 9, "other messages"),
        ];
        for (change, named) in cases {
            let text = changed(change);
            assert!(text.contains(named), "{text:?} does not name {named:?}");
        }
    }
}
