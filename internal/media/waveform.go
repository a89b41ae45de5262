// The waveform of a voice note.

package media

import (
	"bytes"
	"math"
)

const (
	waveformLength = 64
	waveformTop    = 100
	// waveformFlat is the height of the line that stands for audio that could not be
	// read. Zero would mean silence.
	waveformFlat = 30
)

func flatWaveform() []byte {
	return bytes.Repeat([]byte{waveformFlat}, waveformLength)
}

// waveformWriter takes 16-bit little-endian samples and measures how loud each of 64
// equal parts is.
type waveformWriter struct {
	expected int64 // samples in all
	seen     int64
	energy   [waveformLength]float64
	count    [waveformLength]int64
	odd      []byte // the first byte of a sample whose second byte has not come yet
}

// newWaveformWriter expects a number of samples. Any further samples count towards the
// last part.
func newWaveformWriter(expected int64) *waveformWriter {
	return &waveformWriter{expected: max(expected, waveformLength)}
}

// Write takes samples; it never fails.
func (w *waveformWriter) Write(p []byte) (int, error) {
	size := len(p)
	if len(w.odd) == 1 && size > 0 {
		w.sample(w.odd[0], p[0])
		w.odd, p = nil, p[1:]
	}
	for len(p) >= 2 {
		w.sample(p[0], p[1])
		p = p[2:]
	}
	if len(p) == 1 {
		w.odd = []byte{p[0]}
	}
	return size, nil
}

func (w *waveformWriter) sample(low, high byte) {
	value := float64(int16(uint16(high)<<8 | uint16(low))) //nolint:gosec // the sign is the uppermost bit
	part := min(w.seen*waveformLength/w.expected, waveformLength-1)
	w.energy[part] += value * value
	w.count[part]++
	w.seen++
}

// values returns how loud each part is; the loudest part is 100.
func (w *waveformWriter) values() []byte {
	var loud [waveformLength]float64
	var loudest float64
	for i := range loud {
		if w.count[i] > 0 {
			loud[i] = math.Sqrt(w.energy[i] / float64(w.count[i]))
		}
		loudest = max(loudest, loud[i])
	}
	drawn := make([]byte, waveformLength)
	if loudest == 0 {
		return drawn
	}
	for i := range drawn {
		drawn[i] = byte(math.Round(loud[i] / loudest * waveformTop))
	}
	return drawn
}
