//! SplitMix64, written out so that the world's bytes depend on no library. Not for secrets.

/// The odd step of SplitMix64: 2^64 divided by the golden ratio.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// A stream of numbers fixed by the words it was made of.
#[derive(Clone, Debug)]
pub(crate) struct Random {
    state: u64,
}

impl Random {
    /// The stream of these words, in this order. Each word is mixed before the next is taken in,
    /// so neighbouring documents share nothing.
    pub(crate) fn of(words: &[u64]) -> Self {
        let state = words.iter().fold(0, |state, word| mix(mix(state) ^ word.wrapping_add(STEP)));
        Self { state }
    }

    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(STEP);
        mix(self.state)
    }

    /// A number from 0 to `limit - 1`; 0 where `limit` is 0.
    pub(crate) fn below(&mut self, limit: u32) -> u32 {
        // The high half of a product of 32-bit numbers is always below either factor.
        let drawn = self.next() >> 32;
        ((drawn * u64::from(limit)) >> 32) as u32
    }

    /// One entry of a list that is never empty.
    pub(crate) fn pick<T: Copy, const N: usize>(&mut self, list: &[T; N]) -> T {
        list[self.below(N as u32) as usize]
    }

    /// `K` different entries, in the order drawn.
    pub(crate) fn sample<T: Copy, const K: usize, const N: usize>(
        &mut self,
        list: &[T; N],
    ) -> [T; K] {
        const { assert!(K <= N, "a sample is no larger than its list") };
        let mut order: [usize; N] = std::array::from_fn(|position| position);
        self.shuffle(&mut order);
        std::array::from_fn(|position| list[order[position]])
    }

    /// Puts the list into a random order (Fisher and Yates).
    pub(crate) fn shuffle<T>(&mut self, list: &mut [T]) {
        for last in (1..list.len()).rev() {
            list.swap(last, self.below(last as u32 + 1) as usize);
        }
    }
}

fn mix(word: u64) -> u64 {
    let word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stream_is_the_published_one() {
        // The first outputs of the reference implementation for seed 1234567.
        let mut random = Random { state: 1_234_567 };
        let drawn: [u64; 3] = std::array::from_fn(|_| random.next());
        assert_eq!(
            drawn,
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]
        );
    }

    #[test]
    fn order_and_number_of_words_matter() {
        let first = |words: &[u64]| Random::of(words).next();
        assert_ne!(first(&[1, 2]), first(&[2, 1]));
        assert_ne!(first(&[1]), first(&[1, 0]));
        assert_ne!(first(&[]), first(&[0]));
    }

    #[test]
    fn numbers_stay_below_the_limit_and_reach_every_value() {
        let mut random = Random::of(&[7]);
        let mut seen = [0u32; 6];
        for _ in 0..6_000 {
            seen[random.below(6) as usize] += 1;
        }
        assert!(seen.iter().all(|count| (800..1_200).contains(count)), "{seen:?}");
        assert_eq!(random.below(0), 0);
    }

    #[test]
    fn a_sample_repeats_nothing() {
        let mut random = Random::of(&[8]);
        for _ in 0..200 {
            let [a, b, c] = random.sample(&[1, 2, 3, 4]);
            assert!(a != b && b != c && a != c);
        }
    }
}
