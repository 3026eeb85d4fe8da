//! The hit box file in the editor.

use std::{fs, path::PathBuf};

use bevy::prelude::*;
use bevy_unlag::rewind::{
    BodyBounds, FileBox, FileShape, HitBoxFile, HitGroup, humanoid_hit_boxes, humanoid_rig, sample_poses,
};

use crate::{bones::BONES, validation::read};

/// Margin that is added to measured bounds, in metres.
const MARGIN: f32 = 0.02;

/// The edited file, and the selected box.
#[derive(Resource, Clone, Debug)]
pub struct Document {
    /// Content of the file.
    pub file: HitBoxFile,
    /// Path of the file.
    pub path: PathBuf,
    /// Index of the selected box.
    pub selected: usize,
    /// Whether it has unsaved changes.
    pub dirty: bool,
    /// Result of the last action, shown on the panel.
    pub note: String,
}

impl Document {
    /// Opens a file, or starts a new one with the humanoid's boxes.
    ///
    /// # Errors
    /// Returns in one line what is wrong with the file.
    pub fn open(path: &std::path::Path) -> Result<Self, String> {
        let (file, note) = if path.exists() {
            (read(path)?, "opened".to_owned())
        } else {
            let preset = HitBoxFile::of(&humanoid_hit_boxes(), &BONES)
                .ok_or("the humanoid preset cannot be expressed as a file")?;
            (preset, "new: the humanoid's boxes".to_owned())
        };
        Ok(Self { file, path: path.to_owned(), selected: 0, dirty: false, note })
    }

    /// Discards the unsaved changes.
    pub fn reload(&mut self) {
        match Self::open(&self.path) {
            Ok(fresh) => {
                let selected = self.selected.min(fresh.file.boxes.len() - 1);
                *self = Self { selected, ..fresh };
            }
            Err(line) => self.note = line,
        }
    }

    /// Saves the file. Writes to a temporary file beside it first, so that a full disk leaves the old
    /// content intact.
    pub fn save(&mut self) {
        let beside = self.path.with_extension("ron.part");
        let written = self.file.to_ron().map_err(|error| error.to_string()).and_then(|text| {
            fs::write(&beside, text)
                .and_then(|()| fs::rename(&beside, &self.path))
                .map_err(|error| format!("{}: {error}", self.path.display()))
        });
        match written {
            Ok(()) => {
                self.dirty = false;
                self.note = "saved".to_owned();
            }
            Err(line) => self.note = format!("not saved: {line}"),
        }
    }

    /// Returns the selected box.
    pub fn current(&self) -> &FileBox {
        &self.file.boxes[self.selected]
    }

    /// Edits the selected box.
    pub fn edit(&mut self, change: impl FnOnce(&mut FileBox)) {
        change(&mut self.file.boxes[self.selected]);
        self.dirty = true;
    }

    /// Selects the next or the previous box.
    pub fn step(&mut self, forward: bool) {
        let count = self.file.boxes.len();
        self.selected = (self.selected + if forward { 1 } else { count - 1 }) % count;
    }

    /// Inserts a copy of the selected box after it; up to 255 boxes.
    pub fn add(&mut self) {
        if self.file.boxes.len() < 255 {
            self.file.boxes.insert(self.selected + 1, self.current().clone());
            self.selected += 1;
            self.dirty = true;
            self.note = "copied the box".to_owned();
        }
    }

    /// Deletes the selected box, unless it is the only one.
    pub fn delete(&mut self) {
        if self.file.boxes.len() > 1 {
            self.file.boxes.remove(self.selected);
            self.selected = self.selected.min(self.file.boxes.len() - 1);
            self.dirty = true;
            self.note = "deleted the box".to_owned();
        }
    }

    /// Returns the extents of the boxes over the usual poses of the humanoid.
    pub fn reach(&self) -> Option<BodyBounds> {
        let set = self.file.hit_boxes_on(&BONES).ok()?;
        BodyBounds::measure(set.boxes(), &humanoid_rig(), sample_poses())
    }

    /// Sets the bounds to the extents of the boxes plus a margin, rounded up to whole centimetres.
    pub fn measure(&mut self) {
        let Some(reach) = self.reach() else {
            self.note = "no humanoid bone: nothing to measure".to_owned();
            return;
        };
        let BodyBounds { radius, low, high } = reach.padded(MARGIN);
        let up = |metres: f32| (metres * 100.0).ceil() / 100.0;
        self.file.bounds = BodyBounds { radius: up(radius), low: -up(-low), high: up(high) };
        self.dirty = true;
        self.note = "measured the bounds".to_owned();
    }

    /// Changes the hit group of the selected box.
    pub fn regroup(&mut self, group: HitGroup) {
        self.edit(|hit_box| hit_box.group = group);
    }

    /// Changes the shape of the selected box, keeping about the same size.
    pub fn reshape(&mut self, form: Form) {
        if form == Form::of(&self.current().shape) {
            return;
        }
        self.edit(|hit_box| {
            let half = half_size(&hit_box.shape);
            let longest = if half.y >= half.x.max(half.z) {
                Vec3::Y
            } else if half.x >= half.z {
                Vec3::X
            } else {
                Vec3::Z
            };
            let thick = (half - longest * half).max_element();
            hit_box.shape = match form {
                Form::Box => FileShape::Box { half: half.to_array() },
                Form::Ball => FileShape::Ball { radius: (half.x + half.y + half.z) / 3.0 },
                Form::Capsule => {
                    // A ball becomes an elongated capsule.
                    let end = longest * ((half * longest).max_element() - thick).max(thick * 0.5);
                    FileShape::Capsule { a: (Vec3::ZERO - end).to_array(), b: end.to_array(), radius: thick }
                }
            };
        });
    }
}

/// Kind of a hit box shape.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// A box.
    Box,
    /// A ball.
    Ball,
    /// A capsule.
    Capsule,
}

impl Form {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::Box, Self::Ball, Self::Capsule];

    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Box => "box",
            Self::Ball => "ball",
            Self::Capsule => "capsule",
        }
    }

    /// Returns the kind of a shape.
    pub fn of(shape: &FileShape) -> Self {
        match shape {
            FileShape::Box { .. } => Self::Box,
            FileShape::Ball { .. } => Self::Ball,
            FileShape::Capsule { .. } => Self::Capsule,
        }
    }
}

/// Returns the half extents of a shape about its own centre.
fn half_size(shape: &FileShape) -> Vec3 {
    match *shape {
        FileShape::Box { half } => half.into(),
        FileShape::Ball { radius } => Vec3::splat(radius),
        FileShape::Capsule { a, b, radius } => (Vec3::from(b) - Vec3::from(a)).abs() * 0.5 + radius,
    }
}
