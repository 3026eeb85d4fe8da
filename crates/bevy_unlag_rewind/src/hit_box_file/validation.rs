//! Validation of hit box files, and their errors.

use bevy_unlag_core::MAX_LIMBS;
use checked_ron::RonError;

use super::{Bone, FileBox, HitBoxFile};
use crate::file_shape::FileShape;

/// Maximum number of boxes in a file: a hit stores the index of its box in a byte.
const MAX_BOXES: usize = 255;
/// Maximum size and distance in metres.
const LARGEST: f32 = 100.0;
const MAX_FACTOR: f32 = 1_000.0;
const MAX_TURN: f32 = 360.0;
/// Maximum length of a bone's name in bytes.
const MAX_NAME: usize = 128;

/// The error of one box.
fn wrong_box(index: usize, bone: &Bone, problem: String) -> RonError {
    let bone = match bone {
        Bone::Name(name) => format!("\"{name}\""),
        Bone::Limb(limb) => format!("limb {limb}"),
    };
    RonError::at(format!("box {index} on {bone}"), problem)
}

pub(super) fn unknown_bone(index: usize, bone: &Bone, bones: &[&str]) -> RonError {
    let problem = format!("there is no such bone; write one of: {}", bones.join(", "));
    wrong_box(index, bone, problem)
}

/// Checks that a value is within its range; NaN never is.
fn within(name: &str, value: f32, least: f32, most: f32) -> Result<(), String> {
    if (least..=most).contains(&value) {
        Ok(())
    } else {
        Err(format!("{name} is {value}; it must be in the range {least} to {most}"))
    }
}

/// Checks that a length is more than 0.
fn length(name: &str, value: f32) -> Result<(), String> {
    if value > 0.0 && value <= LARGEST {
        Ok(())
    } else {
        Err(format!("{name} is {value}; it must be more than 0 and at most {LARGEST} (metres)"))
    }
}

fn vector(name: &str, value: [f32; 3], most: f32) -> Result<(), String> {
    value
        .into_iter()
        .zip(["x", "y", "z"])
        .try_for_each(|(value, axis)| within(&format!("{name}, {axis}"), value, -most, most))
}

impl FileBox {
    fn check(&self) -> Result<(), String> {
        match &self.bone {
            Bone::Name(name) if name.is_empty() => {
                return Err("the bone has an empty name; write the name of its node".to_owned());
            }
            Bone::Name(name) if name.len() > MAX_NAME => {
                return Err(format!("the bone name has {} bytes; the maximum is {MAX_NAME}", name.len()));
            }
            Bone::Limb(limb) if usize::from(*limb) >= MAX_LIMBS => {
                return Err(format!("limb {limb} is out of range; write 0 to {}", MAX_LIMBS - 1));
            }
            _ => {}
        }
        within("factor", self.factor, 0.0, MAX_FACTOR)?;
        match self.shape {
            FileShape::Box { half } => {
                half.into_iter()
                    .zip(["x", "y", "z"])
                    .try_for_each(|(half, axis)| length(&format!("half, {axis}"), half))?;
            }
            FileShape::Ball { radius } => length("radius", radius)?,
            FileShape::Capsule { a, b, radius } => {
                length("radius", radius)?;
                vector("a", a, LARGEST)?;
                vector("b", b, LARGEST)?;
            }
        }
        vector("translation", self.offset.translation, LARGEST)?;
        vector("rotation", self.offset.rotation, MAX_TURN)
    }
}

impl HitBoxFile {
    /// Validates the contents. Files read with [`from_ron`](checked_ron::RonFile::from_ron) were already
    /// validated.
    ///
    /// # Errors
    /// Returns the first problem.
    pub fn check(&self) -> Result<(), RonError> {
        let bounds = self.bounds;
        length("radius", bounds.radius)
            .and_then(|()| within("low", bounds.low, -LARGEST, LARGEST))
            .and_then(|()| within("high", bounds.high, -LARGEST, LARGEST))
            .map_err(|problem| RonError::whole(format!("bounds: {problem}")))?;
        if bounds.low >= bounds.high {
            return Err(RonError::whole(format!(
                "bounds: low is {} and high is {}; high must be more than low",
                bounds.low, bounds.high
            )));
        }
        if self.boxes.is_empty() || self.boxes.len() > MAX_BOXES {
            return Err(RonError::whole(format!(
                "the file has {} boxes; it must have 1 to {MAX_BOXES}",
                self.boxes.len()
            )));
        }
        for (index, hit_box) in self.boxes.iter().enumerate() {
            hit_box.check().map_err(|problem| wrong_box(index, &hit_box.bone, problem))?;
        }
        let named = self.boxes.iter().filter(|hit_box| matches!(hit_box.bone, Bone::Name(_))).count();
        if named != 0 && named != self.boxes.len() {
            return Err(RonError::whole(format!(
                "{named} of {} boxes give the bone by name and the others by number; write all of them alike",
                self.boxes.len()
            )));
        }
        let bones = self.bones();
        if let Some(first) = bones.get(MAX_LIMBS) {
            return Err(RonError::whole(format!(
                "the boxes are on {} bones; a pawn can have {MAX_LIMBS}: remove the bones from \"{first}\" \
                 on, or attach their boxes to other bones with an offset",
                bones.len()
            )));
        }
        Ok(())
    }
}
