import { z } from 'zod'

/** Reason of the requester, without invisible characters and bidirectional controls. */
export const Reason = z
  .string()
  .trim()
  .max(280)
  .regex(/^(?:[^\p{Cc}\p{Cf}\p{Cs}]|[\n\t])*$/u, 'must not contain control characters')
