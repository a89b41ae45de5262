package evolution

// Chosen are the types of events, and parts of them, that webhooks choose by names.
func Chosen(names ...string) []string { return chosen(names) }
