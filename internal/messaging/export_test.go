package messaging

// NewWithout makes a service without the parts that a test does not use.
func NewWithout(config Config) *Service { return &Service{config: config} }

// Remembered is how many instances have traffic.
func (t *Traffic) Remembered() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.instances)
}
