<?php

declare(strict_types=1);

namespace Recado\Errors;

/** 429: too many requests; $retryAfter says when to repeat it. */
final class RateLimitedError extends RecadoError
{
}
