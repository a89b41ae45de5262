<?php

declare(strict_types=1);

namespace Recado\Errors;

/** A field of a request that is not valid. */
final class FieldError
{
    /** @internal */
    public function __construct(
        public readonly string $field,
        public readonly string $message,
    ) {
    }
}
