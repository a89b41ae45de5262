<?php

declare(strict_types=1);

namespace Recado\Errors;

/** The gateway could not be reached, or did not answer in time. The previous error is why. */
final class ConnectionError extends \RuntimeException
{
    /** @internal */
    public function __construct(string $baseUrl, \Throwable $cause)
    {
        parent::__construct("the gateway at $baseUrl can't be reached: " . $cause->getMessage(), 0, $cause);
    }
}
