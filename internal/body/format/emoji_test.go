package format

import (
	"strings"
	"testing"
	"unicode"

	"github.com/rivo/uniseg"

	"github.com/recado-project/recado/internal/testkit/cases"
)

func TestIsEmoji(t *testing.T) {
	t.Parallel()
	for name, texts := range cases.Sorted(map[string][]string{
		"characters":           {"👍", "😀", "🫡", "🫨", "🪿", "⭐", "🏻", "🕳"},
		"old ones, both ways":  {"❤", "❤️", "☺", "☺️", "©", "©️", "™️", "‼️", "↔️", "♂️"},
		"skin tones":           {"👍🏽", "✌🏿", "🤌🏻", "🫱🏾"},
		"flags":                {"🇧🇷", "🇪🇺", "🏴", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "🏴󠁧󠁢󠁳󠁣󠁴󠁿"},
		"keycaps":              {"1️⃣", "0️⃣", "#️⃣", "*️⃣", "9⃣"},
		"joined":               {"👨‍👩‍👧‍👦", "❤️‍🔥", "🏳️‍🌈", "🏴‍☠️", "🐻‍❄️", "👩🏽‍💻", "🏋🏽‍♂️", "👁️‍🗨️", "👩‍❤️‍💋‍👨", "🧑🏻‍🤝‍🧑🏿", "🏃🏽‍♀️‍➡️", "😵‍💫"},
		"joined without style": {"🏳‍🌈", "❤‍🔥"},
	}) {
		for _, text := range texts {
			if !isEmoji(text) {
				t.Errorf("%s: %q (%+q) is no emoji", name, text, text)
			}
		}
	}
	for name, texts := range cases.Sorted(map[string][]string{
		"nothing":             {"", " ", "\t", "\u200d", "\ufe0f", "\u20e3"},
		"letters and marks":   {"a", "A", "é", "e\u0301", "ok", "!", "+", "→", "ß", "中", "ก", "한", "ก็", "\u0301"},
		"digits":              {"1", "9", "#", "*", "12", "٣", "1️", "1\u20e3\u20e3"},
		"symbols":             {"★", "☓", "♔", "🀀", "🂡", "✓", "€", "½"},
		"two":                 {"👍👍", "👍🏽👍🏽", "🇧🇷🇵🇹", "1️⃣2️⃣", "❤️❤️"},
		"text beside":         {"👍 ", " 👍", "👍a", "a👍", "👍\n", "👍\x00", "👍."},
		"half a flag":         {"🇧", "🇧🇷🇵", "🇧🏽", "🇧\u200d"},
		"text style":          {"❤\ufe0e", "☺\ufe0e"},
		"tone on what is not": {"😀🏽", "❤️🏽", "👍🏽🏽", "🐻🏽", "👍\ufe0f🏽"},
		"joined to nothing":   {"👩\u200d", "\u200d👩", "👩\u200d\u200d💻", "👩\u200da", "a\u200d👩", "👩🏽\u200d1️⃣"},
		"tags":                {"🏴\U000e0067", "🏴\U000e007f", "👍\U000e0067\U000e007f", "🏴\U000e0067\U000e007f\U000e007f"},
		"broken":              {"\xff", "\xf0\x9f\x91", "👍\xff", "\ufffd"},
		"endless":             {strings.Repeat("👩\u200d", 500) + "👩", "👍" + strings.Repeat("\ufe0f", 2)},
	}) {
		for _, text := range texts {
			if isEmoji(text) {
				t.Errorf("%s: %q (%+q) is an emoji", name, text, text)
			}
		}
	}
}

// The table and the segmentation have different sources and must agree: pictographs
// can be joined into one grapheme, other characters can't.
func TestEmojiAreWhatCanBeJoined(t *testing.T) {
	t.Parallel()
	for c := range rune(unicode.MaxRune + 1) {
		if !isEmojiCharacter(c) || firstSkin <= c && c <= lastSkin {
			continue
		}
		if uniseg.GraphemeClusterCount(string(c)+"\u200d👍") != 1 {
			t.Errorf("%+q is no pictograph", c)
		}
	}
}

func FuzzIsEmoji(f *testing.F) {
	for _, text := range []string{"👍", "👍🏽", "🇧🇷", "1️⃣", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "👨‍👩‍👧‍👦", "a", "👍👍", "\xff", ""} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !isEmoji(text) {
			return
		}
		if uniseg.GraphemeClusterCount(text) != 1 {
			t.Errorf("%+q is more than one character", text)
		}
		// With anything beside it, it is not one emoji any more; this one takes no skin tone.
		for _, more := range []string{"a", " ", "😀", "1️⃣", "\x00"} {
			if isEmoji(text+more) || isEmoji(more+text) {
				t.Errorf("%+q and %+q are one emoji", text, more)
			}
		}
		for _, c := range text {
			if unicode.IsLetter(c) && c != 'ℹ' && c != 'Ⓜ' || unicode.IsSpace(c) {
				t.Errorf("%+q holds %+q", text, c)
			}
		}
	})
}
