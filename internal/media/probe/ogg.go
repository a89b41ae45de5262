// The length of an Ogg file.

package probe

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"
)

const (
	oggHeaderSize = 27
	oggFirstPage  = 0x02
	oggNoGranule  = -1
	opusRate      = 48000
	// maxOggStreams bounds how many streams of a hostile file are remembered.
	maxOggStreams = 64
)

// oggStream is one logical stream of an Ogg file.
type oggStream struct {
	codec   oggCodec
	preSkip int64
	rate    float64
	granule int64 // position at the end of the last page that has one
}

type oggCodec int

const (
	oggUnknown oggCodec = iota
	oggIsOpus
	oggIsVorbis
	oggIsVideo
)

func (s oggStream) duration() time.Duration {
	if s.rate == 0 {
		return 0
	}
	return Duration(float64(s.granule-s.preSkip), s.rate)
}

// readOgg reads the page headers of an Ogg file from its start, and the first
// packet of each stream. It stops where the file is no longer Ogg.
func readOgg(file io.ReadSeeker) (Tracks, error) {
	reader := bufio.NewReaderSize(file, 64<<10)
	var streams []*oggStream
	current := map[uint32]*oggStream{} // by serial number
	for {
		page, err := readOggPage(reader)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, errNotOgg) {
			return oggTracks(streams), nil
		}
		if err != nil {
			return Tracks{}, fmt.Errorf("probe: read ogg page: %w", err)
		}
		if page.first && len(streams) < maxOggStreams {
			current[page.serial] = newOggStream(page.start)
			streams = append(streams, current[page.serial])
		}
		if stream := current[page.serial]; stream != nil && page.granule != oggNoGranule {
			stream.granule = max(stream.granule, page.granule)
		}
	}
}

var errNotOgg = errors.New("probe: not an ogg page")

type oggPage struct {
	first   bool
	granule int64
	serial  uint32
	start   []byte // of its content, enough to recognise the codec; first pages only
}

func readOggPage(reader *bufio.Reader) (oggPage, error) {
	var header [oggHeaderSize]byte
	if _, err := io.ReadFull(reader, header[:]); err != nil {
		return oggPage{}, err
	}
	if string(header[:4]) != "OggS" || header[4] != 0 {
		return oggPage{}, errNotOgg
	}
	page := oggPage{
		first:   header[5]&oggFirstPage != 0,
		granule: int64(binary.LittleEndian.Uint64(header[6:])), //nolint:gosec // the format's own -1 says "none"
		serial:  binary.LittleEndian.Uint32(header[14:]),
	}
	var table [255]byte
	segments := table[:header[26]]
	if _, err := io.ReadFull(reader, segments); err != nil {
		return oggPage{}, err
	}
	size := 0
	for _, segment := range segments {
		size += int(segment)
	}
	if page.first {
		start, err := reader.Peek(min(size, 32))
		if err != nil {
			return oggPage{}, err
		}
		page.start = bytes.Clone(start)
	}
	_, err := reader.Discard(size)
	return page, err
}

// newOggStream recognises a stream's codec by its first packet.
func newOggStream(packet []byte) *oggStream {
	switch {
	case bytes.HasPrefix(packet, []byte("OpusHead")) && len(packet) >= 12:
		return &oggStream{codec: oggIsOpus, rate: opusRate, preSkip: int64(binary.LittleEndian.Uint16(packet[10:]))}
	case bytes.HasPrefix(packet, []byte("\x01vorbis")) && len(packet) >= 16:
		return &oggStream{codec: oggIsVorbis, rate: float64(binary.LittleEndian.Uint32(packet[12:]))}
	case bytes.HasPrefix(packet, []byte("\x80theora")):
		return &oggStream{codec: oggIsVideo}
	default:
		return &oggStream{}
	}
}

// oggTracks adds up the streams. If a file was joined from several files, their streams
// play one after the other.
func oggTracks(streams []*oggStream) Tracks {
	found := Tracks{Opus: len(streams) > 0}
	for _, stream := range streams {
		found.Duration += stream.duration()
		found.Opus = found.Opus && stream.codec == oggIsOpus
		found.Audio = found.Audio || stream.codec == oggIsOpus || stream.codec == oggIsVorbis
		found.Video = found.Video || stream.codec == oggIsVideo
	}
	return found
}
