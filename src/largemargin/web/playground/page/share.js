export async function readLink() { return "nothing"; }
export function takeAway() {}
