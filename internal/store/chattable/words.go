// Words: how texts are taken apart for the search, the same on both databases.

package chattable

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxWord is how many bytes of a word count.
const maxWord = 64

// maxQueryWords is how many words of a search count.
const maxQueryWords = 16

// fold writes a text so that case and accents don't count.
func fold(text string) string {
	plain := true
	for i := range len(text) {
		if c := text[i]; c >= utf8.RuneSelf || c >= 'A' && c <= 'Z' {
			plain = false
			break
		}
	}
	if plain {
		return text
	}
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return unicode.ToLower(r)
	}, norm.NFKD.String(text))
}

// wordsOf returns the words of a text, each once: runs of letters and digits, folded. They
// have no other characters, so they mean nothing to either database.
func wordsOf(text string) []string {
	var words []string
	seen := map[string]struct{}{}
	for word := range strings.FieldsFuncSeq(fold(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) || r == utf8.RuneError }) {
		word = short(word)
		if _, ok := seen[word]; !ok {
			seen[word] = struct{}{}
			words = append(words, word)
		}
	}
	return words
}

// short cuts a word after a whole character.
func short(word string) string {
	if len(word) <= maxWord {
		return word
	}
	end := maxWord
	for !utf8.RuneStart(word[end]) {
		end--
	}
	return word[:end]
}

// chatPart is how many characters of the identifier of a chat are in front of its words. They
// need not be unique: what is found is compared with the chat.
const chatPart = 8

// entriesOf are the entries of the index for a text in a chat: its words with a part of the
// chat's identifier in front, so that a search reads what is in its chat alone.
func entriesOf(chatID, text string) []string {
	entries := wordsOf(text)
	for n, word := range entries {
		entries[n] = entry(chatID, word)
	}
	return entries
}

func entry(chatID, word string) string {
	return chatID[max(0, len(chatID)-chatPart):] + word // the end of an identifier is random
}

// haveAll reports whether each of the beginnings is that of one of the words.
func haveAll(words, beginnings []string) bool {
	for _, beginning := range beginnings {
		if !slices.ContainsFunc(words, func(word string) bool { return strings.HasPrefix(word, beginning) }) {
			return false
		}
	}
	return true
}

// wanted returns the words of a search; no words find nothing.
func wanted(search string) []string {
	words := wordsOf(search)
	return words[:min(len(words), maxQueryWords)]
}
