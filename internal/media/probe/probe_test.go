package probe

import (
	"bytes"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/media/mediatest"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// sample returns one of the files in testdata of media.
func sample(tb testing.TB, name string) []byte {
	tb.Helper()
	content, err := os.ReadFile(filepath.Join("..", "testdata", name))
	if err != nil {
		tb.Fatal(err)
	}
	return content
}

func TestTracks(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		parse   func(io.ReadSeeker) (Tracks, error)
		content []byte
		want    Tracks
	}{
		{"ogg", readOgg, sample(t, "voice.ogg"), Tracks{Audio: true, AudioCodec: "opus", Duration: 2 * time.Second}},
		{"ogg of two parts", readOgg, slices.Concat(sample(t, "voice.ogg"), sample(t, "voice.ogg")), Tracks{Audio: true, AudioCodec: "opus", Duration: 4 * time.Second}},
		{"ogg cut out of an hour", readOgg, later(sample(t, "voice.ogg"), 48_000*3600), Tracks{Audio: true, AudioCodec: "opus", Duration: 2 * time.Second}},
		{"ogg that breaks off", readOgg, sample(t, "voice.ogg")[:100], Tracks{Audio: true, AudioCodec: "opus"}},
		{"wav", readWAV, mediatest.WAV(3 * time.Second), Tracks{Audio: true, Duration: 3 * time.Second}},
		{"wav that breaks off", readWAV, mediatest.WAV(3 * time.Second)[:30], Tracks{Audio: true}},
		{"mp4", readMP4, sample(t, "clip.mp4"), Tracks{Video: true, VideoCodec: "h264", Duration: 2 * time.Second, Width: 160, Height: 120}},
		{"mp4 that is turned", readMP4, sample(t, "turned.mp4"), Tracks{Video: true, VideoCodec: "h264", Duration: 2 * time.Second, Width: 120, Height: 160}},
		{"mp4 of sound", readMP4, sample(t, "sound.mp4"), Tracks{Audio: true, AudioCodec: "aac", Duration: 2 * time.Second}},
		{"mp4 that breaks off", readMP4, sample(t, "clip.mp4")[:200], Tracks{}},
		{"mp4 with numbers of 64 bits", readMP4, longMP4(), Tracks{Audio: true, Video: true, Duration: 5000 * time.Second, Width: 640, Height: 360}},
		{"mp4 of unknown length", readMP4, box("moov", box("mvhd", make([]byte, 12), []byte{0, 0, 3, 232, 255, 255, 255, 255})), Tracks{}},
		{"mp4 without a scale", readMP4, box("moov", box("mvhd", make([]byte, 16), []byte{0, 0, 0, 1})), Tracks{}},
		{"mp4 that nests for ever", readMP4, nested(1000), Tracks{}},
		{"ogg with vorbis", readOgg, slices.Concat(
			oggPageOf(1, oggFirstPage, 0, "\x01vorbis\x00\x00\x00\x00\x02\x44\xac\x00\x00"), oggPageOf(1, 0, 3*44100, "sound"),
		), Tracks{Audio: true, AudioCodec: "vorbis", Duration: 3 * time.Second}},
		{"ogg with a picture", readOgg, slices.Concat(
			oggPageOf(1, oggFirstPage, 0, "\x80theora"), oggPageOf(2, oggFirstPage, 0, "OpusHead\x01\x01\x38\x01"), oggPageOf(2, 0, 48312, "sound"),
		), Tracks{Audio: true, Video: true, AudioCodec: "opus", VideoCodec: "theora", Duration: time.Second}},
		{"mp4 without an end", readMP4, []byte("\x00\x00\x00\x00moov"), Tracks{}},
		{"mp4 that is too large", readMP4, []byte("\x00\x00\x00\x01moov\xff\xff\xff\xff\xff\xff\xff\xff"), Tracks{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got, err := test.parse(bytes.NewReader(test.content))
			if err != nil {
				t.Fatal(err)
			}
			got.Duration = got.Duration.Round(50 * time.Millisecond)
			if got != test.want {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
		})
	}
}

// later moves the clock of an Ogg file by so many samples, but for the pages of its header.
func later(file []byte, samples uint64) []byte {
	file = slices.Clone(file)
	for at := 0; at+oggHeaderSize <= len(file); {
		if granule := file[at+6 : at+14]; binary.LittleEndian.Uint64(granule) > 0 {
			binary.LittleEndian.PutUint64(granule, binary.LittleEndian.Uint64(granule)+samples)
		}
		segments := int(file[at+26])
		size := 0
		for _, segment := range file[at+oggHeaderSize:][:segments] {
			size += int(segment)
		}
		at += oggHeaderSize + segments + size
	}
	return file
}

// box makes a box of an MP4 file.
func box(kind string, content ...[]byte) []byte {
	body := slices.Concat(content...)
	return slices.Concat(binary.BigEndian.AppendUint32(nil, uint32(8+len(body))), []byte(kind), body)
}

// longMP4 has its lengths and sizes in 64 bits wherever that is possible.
func longMP4() []byte {
	version1 := []byte{1, 0, 0, 0}
	header := box("mvhd", version1, make([]byte, 16), []byte{0, 15, 66, 64}, binary.BigEndian.AppendUint64(nil, 5_000_000_000))
	size := []byte{2, 128, 0, 0, 1, 104, 0, 0} // 640 and 360, in 16.16
	picture := box("trak", box("tkhd", version1, make([]byte, 48+36), size), box("mdia", box("hdlr", make([]byte, 8), []byte("vide"))))
	sound := box("trak", box("tkhd", version1, make([]byte, 48+36+8)), box("mdia", box("hdlr", make([]byte, 8), []byte("soun"))))
	movie := slices.Concat(header, picture, sound)
	long := binary.BigEndian.AppendUint64([]byte("\x00\x00\x00\x01moov"), uint64(16+len(movie)))
	return slices.Concat(box("ftyp"), long, movie)
}

func nested(depth int) []byte {
	var inner []byte
	for range depth {
		inner = box("moov", inner)
	}
	return inner
}

func oggPageOf(serial uint32, flags byte, granule uint64, content string) []byte {
	page := append([]byte("OggS\x00"), flags)
	page = binary.LittleEndian.AppendUint64(page, granule)
	page = binary.LittleEndian.AppendUint32(page, serial)
	page = append(page, make([]byte, 8)...)
	return append(append(page, 1, byte(len(content))), content...)
}

func TestSeconds(t *testing.T) {
	t.Parallel()
	for length, want := range cases.Sorted(map[time.Duration]int{
		0: 0, -time.Second: 0, time.Millisecond: 1, 1400 * time.Millisecond: 1, 1500 * time.Millisecond: 2, time.Hour: 3600,
	}) {
		if got := (Tracks{Duration: length}).Seconds(); got != want {
			t.Errorf("%s is %d seconds, want %d", length, got, want)
		}
	}
}

func FuzzOgg(f *testing.F) {
	f.Add(sample(f, "voice.ogg")[:300])
	f.Add(oggPageOf(1, oggFirstPage, 0, "\x80theora"))
	f.Add([]byte("OggS\x00\x02"))
	f.Fuzz(func(t *testing.T, content []byte) { wantSane(t, readOgg, content) })
}

func FuzzMP4(f *testing.F) {
	f.Add(longMP4())
	f.Add(nested(6))
	f.Add(box("moov", box("mvhd", make([]byte, 20))))
	f.Fuzz(func(t *testing.T, content []byte) { wantSane(t, readMP4, content) })
}

func FuzzWAV(f *testing.F) {
	f.Add(mediatest.WAV(time.Millisecond))
	f.Fuzz(func(t *testing.T, content []byte) { wantSane(t, readWAV, content) })
}

func wantSane(t *testing.T, parse func(io.ReadSeeker) (Tracks, error), content []byte) {
	t.Helper()
	found, err := parse(bytes.NewReader(content))
	if err != nil {
		t.Fatalf("reading from memory failed: %v", err)
	}
	if found.Duration < 0 || found.Width < 0 || found.Height < 0 {
		t.Errorf("found %+v", found)
	}
}
