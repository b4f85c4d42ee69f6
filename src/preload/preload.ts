import { contextBridge } from 'electron'

/** All that the page learns of the window it is in. Everything else it does over the local API, as in a browser. */
contextBridge.exposeInMainWorld('steward', Object.freeze({ shell: 'electron', platform: process.platform }))
