import { z } from 'zod'

/** Why something is asked, in the asker's own words, without characters that nobody sees or that turn text around. */
export const Reason = z
  .string()
  .trim()
  .max(280)
  .regex(/^(?:[^\p{Cc}\p{Cf}\p{Cs}]|[\n\t])*$/u, 'must not hold control characters')
