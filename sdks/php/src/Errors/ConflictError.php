<?php

declare(strict_types=1);

namespace Recado\Errors;

/** 409: the instance, or the thing, is not in the state for this. */
final class ConflictError extends RecadoError
{
}
