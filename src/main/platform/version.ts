import manifest from '../../../package.json' with { type: 'json' }

/** Version of this Steward, from `package.json`. */
export const version: string = manifest.version
