//! Which bits stand for a vertex: its number, or what it is made of.
//!
//! A BDD is small where vertices that behave alike have bits in common. The numbers of states that were found one after the other say nothing of that kind; what a state
//! is made of does: who stands where, the value of each variable. So a vertex that is a row of values is written column by column, each with as many bits as it takes to
//! count the values that occur in it, and a step that leaves most columns alone leaves most bits alone.

use crate::graph::Vertex;
use rustc_hash::FxHashMap;

/// Two codes side by side, and a bit to spare, are a number of 128 bits.
const MOST_BITS: u32 = 63;

/// The bits of every vertex.
#[derive(Clone, Debug)]
pub struct Codes {
    bits: u32,
    made: Option<Made>,
}

/// Codes that are not the numbers of vertices.
#[derive(Clone, Debug)]
struct Made {
    /// By vertex.
    codes: Vec<u64>,
    /// Ascending by code.
    vertices: Vec<(u64, Vertex)>,
}

/// How many bits it takes to tell so many apart.
fn width(many: usize) -> u32 {
    many.next_power_of_two().trailing_zeros()
}

impl Codes {
    /// The number of each of so many vertices.
    pub fn numbers(vertices: usize) -> Self {
        Codes { bits: width(vertices).max(1), made: None }
    }

    /// What these columns say of each vertex. Numbers of vertices, if some of them have everything in common, or it takes too many bits.
    pub fn columns(vertices: usize, columns: &[Vec<u32>]) -> Self {
        let mut codes = vec![0u64; vertices];
        let mut bits = 0;
        for column in columns {
            let mut known: Vec<u32> = column.clone();
            known.sort_unstable();
            known.dedup();
            let wide = width(known.len());
            bits += wide;
            if bits > MOST_BITS || column.len() != vertices {
                return Self::numbers(vertices);
            }
            let rank: FxHashMap<u32, u64> = known.into_iter().zip(0..).collect();
            for (code, value) in codes.iter_mut().zip(column) {
                *code = *code << wide | rank[value];
            }
        }
        let mut sorted: Vec<(u64, Vertex)> = codes.iter().copied().zip(0..).collect();
        sorted.sort_unstable();
        if sorted.windows(2).any(|two| two[0].0 == two[1].0) {
            return Self::numbers(vertices);
        }
        Codes { bits: bits.max(1), made: Some(Made { codes, vertices: sorted }) }
    }

    /// How many bits a vertex has.
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// The bits of a vertex.
    pub fn code(&self, vertex: Vertex) -> u64 {
        self.made.as_ref().map_or(u64::from(vertex), |made| made.codes[vertex as usize])
    }

    /// The vertex with these bits.
    ///
    /// # Panics
    /// If there is none.
    pub fn vertex(&self, code: u64) -> Vertex {
        match &self.made {
            None => Vertex::try_from(code).expect("numbers of vertices are small"),
            Some(made) => {
                let at = made.vertices.binary_search_by_key(&code, |&(code, _)| code);
                made.vertices[at.expect("sets have vertices alone")].1
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vertices_and_codes_lead_to_each_other() {
        let columns = [vec![7, 7, 9, 9, 8], vec![0, 1, 0, 1, 1], vec![3; 5]];
        let codes = Codes::columns(5, &columns);
        assert_eq!(codes.bits(), 3, "three values, two values, one value");
        assert_eq!((0..5).map(|vertex| codes.code(vertex)).collect::<Vec<_>>(), [0, 1, 4, 5, 3]);
        assert!((0..5).all(|vertex| codes.vertex(codes.code(vertex)) == vertex));
    }

    #[test]
    fn what_columns_do_not_tell_apart_numbers_do() {
        for columns in [vec![vec![1, 1, 2]], vec![], vec![(0..3).collect::<Vec<u32>>(); 40]] {
            let codes = Codes::columns(3, &columns);
            assert_eq!((codes.bits(), codes.code(2), codes.vertex(1)), (2, 2, 1));
        }
    }
}
