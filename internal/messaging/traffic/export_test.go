package traffic

// Remembered is how many instances have traffic.
func (t *Traffic) Remembered() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.instances)
}
