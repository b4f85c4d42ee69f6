import { contextBridge } from 'electron'

/** The only API that the preload script exposes to the page. All other features use the local API, as in a browser. */
contextBridge.exposeInMainWorld('steward', Object.freeze({ shell: 'electron', platform: process.platform }))
