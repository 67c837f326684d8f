"""The questions of a datasheet, with the order and numbers of PCV §6 (after Gebru et al. 2021)."""

from __future__ import annotations

SECTIONS = {
    "6.1": "Motivation",
    "6.2": "Composition",
    "6.3": "Collection process",
    "6.4": "Preprocessing",
    "6.5": "Uses",
    "6.6": "Distribution",
    "6.7": "Maintenance",
}
QUESTIONS = {
    "6.1.1": "For what purpose was the dataset created?",
    "6.1.2": "Who created the dataset?",
    "6.1.3": "Who funded the creation of the dataset?",
    "6.2.1": "What do the instances that comprise the dataset represent?",
    "6.2.2": "How many instances are there in total?",
    "6.2.3": "What data does each instance consist of?",
    "6.2.4": "Is there a label or target associated with each instance?",
    "6.2.5": "Are there recommended data splits?",
    "6.2.6": "Are there any errors, sources of noise, or redundancies in the dataset?",
    "6.2.7": "Does the dataset contain data that might be considered confidential?",
    "6.2.8": "Does the dataset contain data that, if viewed directly, might be offensive, insulting, threatening, "
    "or might otherwise "
    "cause anxiety?",
    "6.2.9": "Is it possible to identify individuals either directly or indirectly?",
    "6.2.10": "Does the dataset contain data that might be considered sensitive in any way?",
    "6.3.1": "How was the data associated with each instance acquired?",
    "6.3.2": "What mechanisms or procedures were used to collect the data?",
    "6.3.3": "Who was involved in the data collection process and how were they compensated?",
    "6.3.4": "Over what time-frame was the data collected? Does this time-frame match the creation time-frame of "
    "the data associated "
    "with the instances?",
    "6.3.5": "Were any ethical review processes conducted?",
    "6.3.6": "Did you collect the data from the individuals in question directly, or obtain it via third parties or "
    "other sources?",
    "6.3.7": "Were the individuals in question notified about the data collection?",
    "6.3.8": "Did the individuals in question consent to the collection and use of their data?",
    "6.3.9": "Has an analysis of the potential impact of the dataset and its use on data subjects been conducted?",
    "6.4.1": "Was any preprocessing of the data done?",
    "6.4.2": "Was the “raw” data saved in addition to the preprocessed data?",
    "6.4.3": "Is the software used to preprocess the instances available?",
    "6.5.1": "Has the dataset been used for any tasks already?",
    "6.5.2": "Is there a repository that links to any or all papers or systems that use the dataset?",
    "6.5.3": "What other tasks could the dataset be used for?",
    "6.5.4": "Is there anything about the composition of the dataset or the way it was collected and preprocessed "
    "that might impact "
    "future uses?",
    "6.6.1": "Will the dataset be distributed to third parties outside of the entity on behalf of which the dataset was created?",
    "6.6.2": "How will the dataset be distributed?",
    "6.6.3": "When will the dataset be distributed?",
    "6.6.4": "Will the dataset be distributed under a copyright or other intellectual property license, and/or under applicable "
    "terms of use?",
    "6.6.5": "Do any export controls or other regulatory restrictions apply to the dataset or to individual instances?",
    "6.7.1": "Who is supporting/maintaining the dataset?",
    "6.7.2": "How can the curator of the dataset be contacted?",
    "6.7.3": "Will the dataset be updated?",
    "6.7.4": "Will older versions of the dataset continue to be maintained?",
    "6.7.5": "If others want to contribute to the dataset, is there a mechanism for them to do so?",
}
"""Number → question."""
