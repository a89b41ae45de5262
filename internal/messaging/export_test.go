package messaging

// NewWithout makes a service without the parts that a test does not use.
func NewWithout(config Config) *Service { return &Service{config: config} }
